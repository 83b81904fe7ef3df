"""Check docs/promises.md: each test that it names exists, and it names every test that kills or crashes."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "promises.md").read_text()


def sources(*files: str) -> dict[str, str]:
    """Return test name -> source, decorators included, for the tests of these files."""
    texts = [path.read_text() for file in files for path in ROOT.glob(f"tests/{file}")]
    parts = [part for text in texts for part in re.split(r"\n\n\n", text)]
    return {found[1]: part for part in parts if (found := re.search(r"^def (test_\w+)", part, re.MULTILINE))}


def test_every_test_that_a_promise_names_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    assert named
    gone = sorted(named - sources("**/test_*.py").keys())
    assert gone == [], "docs/promises.md names tests that do not exist: rename them there too"


def test_every_test_that_kills_or_crashes_belongs_to_a_promise() -> None:
    ours = sources("crawler/test_crash.py", "crawler/test_kill.py").keys()
    missing = sorted(name for name in ours if f"`{name}`" not in PAGE)
    assert missing == [], "add these tests to the promise in docs/promises.md that they check"


def test_every_long_test_is_marked_as_long_on_the_page() -> None:
    marked = {name for name, text in sources("crawler/**/*.py").items() if "@pytest.mark.long" in text}
    assert marked == set(re.findall(r"`(test_\w+)` \(long\)", PAGE))
