"""Session ids of real software are removed; whatever a person may have written stays."""

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow import urls

# One per line, as they stand behind http://example.org/page: forms of PHP, Java, ASP, ASP.NET, ColdFusion, shops,
# forums, wikis, Perl, Zope, SAP and others.
SESSIONS = """
?PHPSESSID=4m1u9c2bq6ts0l1v8e5j3k7d25
?PHPSESSID=d41d8cd98f00b204e9800998ecf8427e
?phpsessid=abc
?PHPSESSID=
?phpsessionid=42
;jsessionid=1A530637289A03B07199A44E8D531427
;jsessionid=1A530637289A03B07199A44E8D531427.node1
;jsessionid=aaaOmJ8zhz4rdQq6wVYLr
;JSESSIONID=0000Kx3V1Zb2oXyTq9R1n1f7WcA:15k3q2v1e
;jsessionid=RnPxTQ1J2mYhDkLq!-1364298437!1209876543
%3Bjsessionid%3D1A530637289A03B07199A44E8D531427
?jsessionid=8B1E7C
;phpsessid=b1a2
;sid=0123456789abcdef0123456789abcdef
;sessionid=5f4dcc3b5aa765d61d8327deb882cf99
?ASPSESSIONIDQQBCDEFG=ABCDEFGHIJKLMNOPQRSTUVWX
?aspsessionidcsqqtbrs=LKJHGFDSAPOIUYTREWQMNBVC
?ASP.NET_SessionId=9b0f1c5e-2d34-4a7e-8c21-6f0d9e3b7a15
?CFID=1&CFTOKEN=2
?CFID=8237461&CFTOKEN=5d8f1a2b3c4d5e6f-1B2C3D4E-155D-00FF
?cfid=0b3d8f0e-1f2a-4c5d-9e8f-7a6b5c4d3e2f&cftoken=0
?osCsid=3f7c1e0a9b8d7c6e5f4a3b2c1d0e9f8a
?osCsid=x
?osCAdminID=3f7c1e0a9b8d7c6e
?XTCsid=3f7c1e0a9b8d7c6e5f4a3b2c1d0e9f8a
?MODsid=3f7c1e0a9b8d7c6e5f4a3b2c1d0e9f8a
?zenid=r3k5l2m8n1p4q7s0t6u9v2w5x8
?zencartid=x
?mscssid=G7W4H2K9Q1XN8L3M5P6R0T2V4Y7ZABCD
?BV_SessionID=@@@@0123456789.1234567890@@@@&BV_EngineID=ccccadcfhhfmdjlcefecekhdffhdffh.0
?CGISESSID=6b1f0d9c8e7a5b4c3d2e1f0a9b8c7d6e
?cgisessionid=1
?sap-sessionid=abcdefgh
?sap-contextid=SID%3aANON%3aserver_PRD_00%3aX1-ATT
?sap-ext-sid=1
?_ZopeId=16738529A4xK1mYqL0o
?_DynSessConf=-1842374328467
?plsessid=7
?PLAY_SESSION=x
?s=0123456789abcdef0123456789abcdef
?s=9e107d9d372bb6826bd81d3542a419d6
?sid=9e107d9d372bb6826bd81d3542a419d6
?SID=9E107D9D372BB6826BD81D3542A419D6
?sid=2fd4e1c67a2d28fced849ee1bb76e7391b93eb12
?sid=4m1u9c2bq6ts0l1v8e5j3k7d25
?sid=4M1U9C2BQ6TS0L1V8E5J3K7D25
?sess=9e107d9d372bb682
?ssid=9e107d9d372bb6826bd81d35
?session=AbCdEfGhIjKlMnOpQr_123
?session=kT9xQ2mZ7vB4nR8wL1pY
?session=kT9xQ2mZ7vB4nR8wL1pY%3D%3D
?session=kT9xQ2mZ7v%2BB4nR8w%2FL1pY5s
?session=q7Yd-3kLmX0_pR9sT2vW4zA8bC6eF1gH
?session_id=5f4dcc3b5aa765d61d8327deb882cf99
?session_id=550e8400-e29b-41d4-a716-446655440000
?session-id=550E8400-E29B-41D4-A716-446655440000
?session_key=5f4dcc3b5aa765d61d8327deb882cf99
?sessionid=a8f3c2d9
?sessionid=a8f3c2d90b
?sessid=a1b2c3d4e5f60718
?sess_id=da39a3ee5e6b4b0d3255bfef95601890afd80709
?sessiontoken=kT9xQ2mZ7vB4nR8wL1pYc3
?sesskey=Qm3xT8kZ1vLb9Rw2Yp4N
?DokuWiki=7c5b0e1f2a3d4c6b8e9f0a1b2c3d4e5f
?wosid=7Xk2pQ9mLz4vTb8RwY1nC6
?_session_id=da39a3ee5e6b4b0d3255bfef95601890
?PHPSESSI%44=1
?amp;sid=9e107d9d372bb6826bd81d3542a419d6
""".split()

PARENTHESES = """
/(S(lit3py55t21z5v55vlm25s55))
/(s(4hqa0555fwsecu455xqckv45))
/(X(1)S(4hqa0555fwsecu455xqckv45))
/(A(kLq0Zx7mV2bN8cR4tY6wP1sD3fG5hJ9)S(qcbhkvvrxhrjqiceg2rqgkov))
/(F(kLq0Zx7mV2bN8cR4tY6wP1sD3fG5hJ9))
/(lit3py55t21z5v55vlm25s55)
/(4hqa0555fwsecu455xqckv45)
/(q1cb2kvvrx3hrjqiceg4rqko)
""".split()

PAGES = """
?session=intro-to-kubernetes-101-workshop
?session=intro_to_kubernetes_101_workshop
?session=IntroToKubernetes101Workshop2024
?session=introtokubernetes101workshop
?session=2024-spring
?session=spring-2024-conference-room-12
?session=20241105093000
?session=room12monday0930
?session=keynote
?session=CS-201-2024-fall-section-003
?session_id=KEY12345
?session_id=ABC12345
?session_id=FEED2024
?session_id=B2B2024A
?session_id=20241105
?session_id=2024-spring-conference-day-1
?session_id=opening-ceremony-2024-10-01
?session_id=1234567890123456789
?session_id=track1.room2.slot3
?sessionid=S12-34
?sessionid=deadbeef
?sessionid=12345678
?sessid=parliament-55-2
?sess_id=115th-congress-2017-2018
?session-id=GTC2024S61234
?session_key=workshop-advanced-2
?dokuwiki=manual
?sesskey=chapter10
?asp.net_sessionid=introduction
?s=windrow
?s=iphone-12-pro-max-256gb
?s=iphone12promax256gb
?s=samsung+galaxy+s21+ultra+5g+128gb
?s=geforcertx4090ti24gbgddr6x
?s=hp15sfq5000nl16gb512gbssdi5
?s=deadbeefdeadbeef
?s=cafe2024deadbeef
?s=the-lord-of-the-rings-1954-1955
?s=TheCatSatOnTheMat1And2AndTheDog3
?s=a1-b2-c3-d4-e5-f6-g7-h8
?s=f%C3%BCr+alle+f%C3%A4lle+2024
?s=internationalconferences
?s=20241105
?s=978-3-16-148410-0
?s=9783161484100123456
?s=4a
?s=1600x1200
?sid=17
?sid=1234567890123456789
?sid=01234567890123456789012345678901
?sid=09/11/15/2358203
?sid=story-2009-11-15-number-2358203
?sid=WIKI-2024-0001-ABC
?ssid=my-home-network-24ghz
?sess=90th-regular-session-2023
?sess=second-session-of-the-55th-parliament
?id=9e107d9d372bb6826bd81d3542a419d6
?class=9e107d9d372bb6826bd81d3542a419d6
?token=9e107d9d372bb6826bd81d3542a419d6
?ref=home&source=x&campaign=y
?phpsessid_help=1
?phpsessid-explained
?jsessionids=1
?zen=id
?hash=2fd4e1c67a2d28fced849ee1bb76e7391b93eb12
?v=dQw4w9WgXcQ
?album=2fd4e1c67a2d28fc
?q=jsessionid=1
/(internationalconferences)/x
/(conference2012proceeding)/x
/(top10albumsof2010and2011)/x
/(S(short))/x
/(X(1))/x
/(function_mathematics)/x
/wiki/function_(mathematics)
/;a=b;c
/;s=red;size=12
/a;session=intro-to-kubernetes-101
/a;v=1.1/b
""".split()


def canonical(text: str) -> str:
    url = urls.parse(text)
    assert url is not None
    return url.text


@pytest.mark.parametrize("visit", SESSIONS)
def test_a_session_id_is_removed(visit: str) -> None:
    assert canonical("http://example.org/page" + visit) == "http://example.org/page"


@pytest.mark.parametrize("visit", PARENTHESES)
def test_a_session_id_between_parentheses_is_removed(visit: str) -> None:
    assert canonical(f"http://example.org/shop{visit}/page.aspx") == "http://example.org/shop/page.aspx"


@pytest.mark.parametrize("page", PAGES)
def test_a_value_that_a_person_may_have_written_stays(page: str) -> None:
    text = "http://example.org" + ("" if page[0] == "/" else "/") + page
    assert canonical(text) == text


def test_the_tables_are_long_enough_to_mean_something() -> None:
    assert len(SESSIONS) + len(PARENTHESES) >= 60
    assert len(PAGES) >= 60


NAMES = st.sampled_from("s sess session sid ssid session_id sessionid sessid session-id sesskey".split())
WORDS = st.text(string.ascii_lowercase, min_size=3, max_size=12)
NUMBERS = st.integers(0, 9999).map(str)
FORMS = st.sampled_from([str.lower, str.upper, str.capitalize])


@given(NAMES, st.lists(WORDS, min_size=1), NUMBERS, st.sampled_from(["", "-", "_", "+", "."]), FORMS)
def test_words_and_a_number_never_collapse(name: str, words: list[str], number: str, glue: str, form: object) -> None:
    assert callable(form)
    for parts in ([*words, number], [number, *words], [words[0], number, *words[1:]]):
        text = f"http://example.org/?{name}={glue.join(map(form, parts))}"
        assert canonical(text) == text


@given(NAMES, st.lists(st.tuples(WORDS, NUMBERS), min_size=1, max_size=6), st.sampled_from(["", "-", "_"]))
def test_words_with_a_number_behind_each_never_collapse(name: str, pairs: list[tuple[str, str]], glue: str) -> None:
    text = f"http://example.org/?{name}={glue.join(word + number for word, number in pairs)}"
    assert canonical(text) == text


@given(NAMES, st.text("0123456789-_.", min_size=1, max_size=40))
def test_numbers_and_dates_never_collapse(name: str, value: str) -> None:
    text = f"http://example.org/?{name}={value}"
    assert canonical(text) == text


# Alphabet, length: PHP's three settings, digests, base64.
GENERATORS = {
    "md5 in hex": ("0123456789abcdef", 32),
    "sha1 in hex": ("0123456789ABCDEF", 40),
    "64 bits in hex": ("0123456789abcdef", 16),
    "PHP with five bits": ("0123456789abcdefghijklmnopqrstuv", 26),
    "base62": (string.ascii_letters + string.digits, 32),
    "base64 for URLs": (string.ascii_letters + string.digits + "-_", 43),
}
# Measured over 5,000 random ids each, rounded down: what is missed is fetched as another URL of a known page.
RECOGNISED = {"PHP with five bits": 0.65, "64 bits in hex": 0.94, "base62": 0.9, "base64 for URLs": 0.93}


@pytest.mark.parametrize("form", GENERATORS)
def test_nearly_all_random_ids_are_recognised(form: str) -> None:
    alphabet, length = GENERATORS[form]
    source = random.Random(7)
    ids = ["".join(source.choices(alphabet, k=length)) for _ in range(1000)]
    removed = sum(canonical(f"http://example.org/?sid={one}") == "http://example.org/" for one in ids)
    assert removed >= 1000 * RECOGNISED.get(form, 0.99), removed
