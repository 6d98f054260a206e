"""Twenty thousand broken projects of every kind, and what must hold for each of them.

One command: .venv/bin/python -m pytest -s tests/nightly/test_bad_input.py
It prints how many of each kind were examined and what came of them. The kinds, and what is
checked, are in tests/any_text.py. Each case is drawn by its number: a failure names it.
"""

from __future__ import annotations

import tempfile
import tracemalloc
from pathlib import Path

import pytest
from any_text import KINDS, Tally, drawn, examine

CASES = 20_400
GROUPS = 12
"""Cases in all, and parts of them that are reported one by one."""
MOST_MEMORY = 100e6
_tally = Tally()
_peaks: list[float] = []


def _engine(number: int) -> str | None:
    """Every third diagram that loads is run, block by block: compiling writes files."""
    return "interpreter" if number % 3 == 0 else None


def _examined(number: int) -> str | None:
    """What is wrong with the answer to a case, or None."""
    measured = number % 20 == 1
    if measured:
        tracemalloc.start()
    try:
        with tempfile.TemporaryDirectory() as folder:
            project = drawn(number % len(KINDS), number)
            examine(project, Path(folder), _tally, run=_engine(number))
        if measured:
            _peaks.append(tracemalloc.get_traced_memory()[1])
            assert _peaks[-1] < MOST_MEMORY, f"{_peaks[-1] / 1e6:.0f} MB"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return f"drawn({number % len(KINDS)}, {number}): {type(error).__name__}: {error}"[:600]
    finally:
        tracemalloc.stop()
    return None


@pytest.mark.parametrize("group", range(GROUPS))
def test_broken_projects_give_a_diagram_or_an_error_of_ours(group):
    wrong = [text for n in range(group, CASES, GROUPS) if (text := _examined(n)) is not None]
    assert not wrong, f"{len(wrong)} cases:\n" + "\n".join(wrong[:20])


def test_every_kind_was_examined_and_some_of_each_answer_came(capsys):
    with capsys.disabled():
        print(f"\n{_tally}\n\nlargest memory measured {max(_peaks) / 1e6:.1f} MB")
    assert sum(_tally.kinds.values()) >= 20_000
    assert len(_tally.kinds) == len(set(KINDS))
    assert {"loaded", "refused", "ran", "run refused"} <= set(_tally.answers)
