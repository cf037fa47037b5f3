"""The time left: from the start of the present work, without earlier work."""

from __future__ import annotations

import pytest

from netlull.cli.progress import TimeLeft, shown_time


def test_time_left_goes_by_the_share_done_since_the_start() -> None:
    left = TimeLeft()
    # 40 % were in the store. 20 % more took 10 s, so the other 40 % take 20 s.
    assert left.after(0.4, 100.0) is None
    assert left.after(0.6, 110.0) == pytest.approx(20)
    # A share may fall slightly when a run ends, or much when seeds are added: 10 s did 10 %, 50 % take 50 s.
    assert left.after(0.5, 110.0) == pytest.approx(50)
    assert left.after(1.0, 120.0) == 0


def test_too_little_says_nothing() -> None:
    left = TimeLeft()
    left.after(0.0, 0.0)
    assert left.after(0.5, 0.5) is None
    assert left.after(0.0005, 60.0) is None


def test_time_is_shown_in_hours_minutes_seconds() -> None:
    assert [shown_time(seconds) for seconds in (None, 0.2, 65.0, 7322.0)] == [
        "",
        "0:00:01 left",
        "0:01:05 left",
        "2:02:02 left",
    ]
