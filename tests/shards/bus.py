"""A transport in memory that drops, repeats, delays and reorders what it carries, forgets everything, and fails."""

import dataclasses

from windrow.shards.messages import Ack, Hello, Standing
from windrow.shards.transport import Incoming, Outgoing, Survey, Unavailable


@dataclasses.dataclass
class Bus:
    inboxes: dict[int, list[tuple[str, bytes]]] = dataclasses.field(default_factory=dict)
    hellos: dict[tuple[int, int], Hello] = dataclasses.field(default_factory=dict)
    acks: dict[tuple[int, int], Ack] = dataclasses.field(default_factory=dict)
    standing: dict[int, Standing] = dataclasses.field(default_factory=dict)
    owners: dict[int, tuple[int, int]] = dataclasses.field(default_factory=dict)  # incarnation, number of the call
    late: list[Outgoing] = dataclasses.field(default_factory=list)  # calls that were not waited for, to be carried out
    epoch: int = 1
    count: int = 1 << 20  # in the name of the next message
    fail: str = ""  # of the next call: "before" or "after" it is carried out, "late"
    full: bool = False  # no room for batches
    swallows: int = 0  # so many of the next batches vanish
    copy: Survey | None = None  # an older state of the registers

    # Transport

    async def call(self, outgoing: Outgoing) -> Incoming:
        fail, self.fail = self.fail, ""
        if fail == "late":
            self.late.append(outgoing)
        if fail in ("before", "late"):
            raise Unavailable(fail)
        reply = self.carry_out(outgoing)
        if fail:
            raise Unavailable(fail)
        return reply

    async def standings(self) -> dict[int, Standing]:
        return dict(self.standing)

    async def survey(self) -> Survey:
        return self.seen()

    # Behind it

    def seen(self) -> Survey:
        return Survey(dict(self.standing), dict(self.hellos), dict(self.acks))

    def carry_out(self, said: Outgoing) -> Incoming:
        shard = said.shard
        box = self.inboxes.setdefault(shard, [])
        if said.done:
            box[:] = [(name, data) for name, data in box if name > said.done]
        if not self.full:
            for receiver, data in said.batches:
                self.deliver(receiver, data)
        owner = self.owners.get(shard, (0, 0))
        board = dict(self.standing)
        announced = said.standing is not None and (said.incarnation, said.number) > owner
        if announced:
            assert said.standing is not None
            self.owners[shard] = (said.incarnation, said.number)
            self.standing[shard] = said.standing
            self.hellos.update({(shard, receiver): hello for receiver, hello in said.hellos.items()})
            self.acks.update({(sender, shard): ack for sender, ack in said.acks.items()})
        return Incoming(
            epoch=str(self.epoch),
            messages=tuple([message for message in box if message[0] > said.after][: said.most]),
            hellos={sender: hello for (sender, receiver), hello in self.hellos.items() if receiver == shard},
            acks={receiver: ack for (sender, receiver), ack in self.acks.items() if sender == shard},
            unpublished=tuple(range(len(said.batches))) if self.full else (),
            announced=announced,
            superseded=owner[0] if owner[0] > said.incarnation else 0,
            standings=board,
        )

    def deliver(self, receiver: int, data: bytes) -> None:
        if self.swallows:
            self.swallows -= 1
            return
        self.count += 1
        self.inboxes.setdefault(receiver, []).append((f"{self.count:09d}", data))

    # Faults

    def flush(self) -> None:
        self.epoch += 1
        self.count //= 2  # later messages have lower names, as after a jump of a clock
        for store in (self.inboxes, self.hellos, self.acks, self.standing, self.owners):
            store.clear()

    def save(self) -> None:
        self.copy = self.seen()

    def fail_over(self) -> None:
        """Continue with an older copy of the registers, as a replica does; nobody is notified of it."""
        if self.copy is not None:
            self.standing, self.hellos = dict(self.copy.standings), dict(self.copy.hellos)
            self.acks, self.inboxes = dict(self.copy.acks), {}
            self.owners = {shard: (standing.incarnation, 0) for shard, standing in self.standing.items()}

    def drop(self, receiver: int, index: int) -> None:
        box = self.inboxes.get(receiver)
        if box:
            del box[index % len(box)]

    def repeat(self, receiver: int, index: int) -> None:
        """Deliver a message again, after later ones."""
        box = self.inboxes.get(receiver)
        if box:
            self.deliver(receiver, box[index % len(box)][1])

    def delay(self, receiver: int, index: int) -> None:
        """Let a message arrive after all others."""
        box = self.inboxes.get(receiver)
        if box:
            self.deliver(receiver, box.pop(index % len(box))[1])

    def catch_up(self) -> None:
        """Carry out the calls that nobody waits for any more."""
        late, self.late = self.late, []
        for said in late:
            self.carry_out(said)
