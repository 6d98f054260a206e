"""Random compositions in every way there is, C and FMUs of a part of them.

One command: .venv/bin/python -m pytest tests/nightly/test_random_compositions.py
Seeds at will, resumed where it ended: .venv/bin/python tests/compositions --from 1000 --count 500
Ten thousand sampled ones in an hour: .venv/bin/python tests/compositions --from 3000000 --step 3
    --count 10000 --small --grid --ways interpreter traced split c
"""

from pathlib import Path

import pytest
from compositions.executing import WAYS
from compositions.nights import night

FOLDER = Path(__file__).parents[2] / "build" / "compositions"
RUNS = ("traced", "interpreter", "split", "compiled", "lanes", "faults")
EXPORTS = ("traced", "c", "loop", "fmu3", "fmu2")


@pytest.mark.parametrize(
    ("name", "ways", "seeds", "small"),
    [
        ("runs", RUNS, range(1000, 1100), False),
        ("exports", EXPORTS, range(2000, 2040), True),
        ("sampled", ("traced", "split", "c"), range(3000, 3600, 3), False),
    ],
)
def test_random_compositions_agree(name, ways, seeds, small):
    assert set(ways) <= set(WAYS)
    counts = night(seeds, ways, FOLDER / name, small=small, shrink=60)
    unlike = {o: n for o, n in counts.items() if not o.startswith(("agree", "known", "too slow"))}
    assert not unlike, f"{unlike}; see {FOLDER / name / 'failures'}"
