"""The title is that of the page, not that of its site."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.extraction.page.title import Titles, choose, names_site


@pytest.mark.parametrize(
    ("titles", "expected"),
    [
        # The name of the site, as declared, as in the host, before and after, behind each kind of separator.
        (Titles(["Running Shoes | REI Co-op"], sites=["REI"], host="www.rei.com"), "Running Shoes"),
        (Titles(["Mission done! – Digital preservation"], host="digitalpreservation.no"), "Mission done!"),
        (Titles(["Valley News: The flood of 1909"], host="www.valleynews.example"), "The flood of 1909"),
        (Titles(["Workforce - Jobs - AustinTexas.gov"], host="www.austintexas.gov"), "Workforce - Jobs"),
        (Titles(["Perfekte Schnitte // HolzWerken"], host="www.holzwerken.net"), "Perfekte Schnitte"),
        (Titles(["Low-cost health providers | myUSF"], host="myusf.usfca.edu"), "Low-cost health providers"),
        # An unknown name behind a bar, but not behind a dash: titles have dashes.
        (Titles(["Faire Preise | DER SONNTAG (Sachsen)"], host="sonntag.example"), "Faire Preise"),
        (Titles(["The Finals - thrilling and wanting"], host="games.example"), "The Finals - thrilling and wanting"),
        # Capitals of a heading are style, if the declared title has the same words.
        (Titles(["Tips for Success | Site"], ["TIPS FOR SUCCESS"], host="site.example"), "Tips for Success"),
        (Titles(["Tips | Site"], ["TIPS FOR SUCCESS"], host="site.example"), "TIPS FOR SUCCESS"),
        # Of several readings of a heading, the one that is most like a declared title; entities escaped twice.
        (
            Titles(["A Study of Wind"], ["Title:A Study of Wind87", "Title: A Study of Wind 87", "A Study of Wind"]),
            "A Study of Wind",
        ),
        (Titles(["Wind &amp; Weather"], host="site.example"), "Wind & Weather"),
        # The heading that says what a declared title says, whatever stands before it.
        (
            Titles(["A Guide to Selling | Sprout", "How to sell"], ["How to sell effectively"], host="sprout.example"),
            "How to sell effectively",
        ),
        (Titles(["ORM Quick Start — Manual"], ["Manual", "ORM Quick Start¶"], host="x.example"), "ORM Quick Start"),
        (Titles(["Ins neue Jahr | Geflüster"], ["Geflüster"], sites=["Geflüster"]), "Ins neue Jahr"),
        (Titles(["话剧《约定》巡演结束_新华网"], ["话剧《约定》巡演结束"]), "话剧《约定》巡演结束"),
        # A banner, a logo or a menu is not the title.
        (Titles(["How allies learned - POLITICO"], ["POLITICO Logo"], host="www.politico.com"), "How allies learned"),
        (Titles(["The Agency | ML at Tech"], ["Institute of Technology"], host="ml.example"), "The Agency"),
        # Whatever there is.
        (Titles(["| Nuts & Volts"], ["Gadgets"], sites=["Nuts and Volts"], host="nutsvolts.example"), "Gadgets"),
        (Titles(["The Verge"], sites=["The Verge"], host="www.theverge.com"), "The Verge"),
        (Titles([], ["A heading"]), "A heading"),
        (Titles(["Python tutorial"], host="www.python.org"), "Python tutorial"),
        (Titles(), ""),
    ],
)
def test_the_title_of_a_page_is_without_the_name_of_its_site(titles: Titles, expected: str) -> None:
    assert choose(titles) == expected


@pytest.mark.parametrize(
    ("author", "host", "is_site"),
    [
        ("Tennis.com", "www.tennis.com", True),
        ("Deutsche Welle", "www.dw.com", False),
        ("LAOLA1.at", "www.laola1.at", True),
        ("Jane Doe", "www.tennis.com", False),
    ],
)
def test_an_author_may_be_the_site(author: str, host: str, is_site: bool) -> None:
    assert names_site(author, host) is is_site


_TEXTS = st.lists(st.text(st.sampled_from("ab _-|»:网\n¶"), max_size=40), max_size=3)


@given(_TEXTS, _TEXTS, _TEXTS, st.sampled_from(["", "a.b", "www.aaaa.example"]))
def test_any_texts_give_one_of_them_or_a_part_of_it(
    declared: list[str], headings: list[str], sites: list[str], host: str
) -> None:
    title = choose(Titles(declared, headings, sites, host))
    assert title == " ".join(title.split())
    assert not title or any(title in " ".join(text.split()) for text in (*declared, *headings))
