"""What a domain had given when its URLs were dropped, at any moment."""

from pathlib import Path

import pytest

from tests.logs import entry, frame, page, task, write
from windrow import log
from windrow.inspect.retirement import Retirements
from windrow.log import views
from windrow.records import Reason


@pytest.mark.parametrize("keep", [1, 1 << 30])
def test_each_moment_has_its_own_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: int) -> None:
    monkeypatch.setattr(views, "KEEP", keep)

    def dropped(time: float) -> object:
        return entry(task(f"dropped{time}"), Reason.LOW_YIELD, time=time, detail="x" * 900)

    def given(time: float) -> tuple[int, int, int]:
        (retirements,) = log.View(tmp_path, "retirements", Retirements("clean")).read()
        account = retirements.at("example.org", time)
        return account.pages, account.downloaded, account.clean

    one = page("1", downloaded=1000, clean=10, time=100.0)
    other = page("1", "www.example.com", downloaded=1000, clean=10, time=100.0)
    write(tmp_path / "log", frame(1, one, other), frame(2, dropped(200.0), dropped(201.0)))  # type: ignore[arg-type]
    assert given(201.0) == (1, 1000, 10) and given(199.0) == (0, 0, 0)
    later = page("2", "b.example.org", downloaded=500, clean=7, time=300.0)
    write(tmp_path / "log", frame(3, later), frame(4, dropped(400.0)))  # type: ignore[arg-type]
    assert given(400.0) == (2, 1500, 17) and given(201.0) == (1, 1000, 10)
