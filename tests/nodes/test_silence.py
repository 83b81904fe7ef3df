"""A data directory is lost when nodes have looked for long, and not when none of them could."""

from windrow.nodes.silence import STEP, SilentHomes


def test_a_directory_without_a_node_is_lost_after_the_time_in_which_it_was_looked_for() -> None:
    homes = SilentHomes()
    for second in range(61):
        homes.look({"gone"} if second >= 10 else set(), 1000.0 + second)
    assert homes.are_over("gone", 50.0) and not homes.are_over("gone", 50.1)
    homes.look(set(), 1061.0)
    assert not homes.are_over("gone", 0.0), "it has a node again"


def test_an_outage_of_redis_does_not_make_a_directory_lost() -> None:
    """Its node was restarted just before the outage, and could not say since that it is alive."""
    homes = SilentHomes()
    homes.look({"restarted"}, 1000.0)
    homes.look({"restarted"}, 5000.0)
    assert not homes.are_over("restarted", 600.0) and homes.are_over("restarted", STEP)
