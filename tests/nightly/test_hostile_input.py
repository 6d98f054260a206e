"""A hundred thousand broken inputs of every format: no traceback, no crash, no hang.

One command: .venv/bin/python -m pytest -s tests/nightly/test_hostile_input.py, or
.venv/bin/python tests/nightly/fuzz, which has options. Other inputs each day: FUZZ_SEED gives
those of another. What fails is kept, with its files, in the folder that is printed.
"""

from __future__ import annotations

import datetime
import os

from fuzz.formats import FORMATS
from fuzz.runner import night

CASES = 100_000
SEED = int(os.environ.get("FUZZ_SEED", datetime.date.today().toordinal()))


def test_whatever_comes_in_is_a_result_or_an_error_of_ours(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("SPART_COMPILER", "none")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    with capsys.disabled():
        tallies = night(FORMATS, CASES, SEED, tmp_path)
        for name, tally in tallies.items():
            print(f"{name:9} {tally.cases:6} {dict(tally.answers.most_common())}")
    failures = [
        f"--seed {SEED} --case {name}:{number}: {text.splitlines()[0]}"
        for name, tally in tallies.items()
        for number, text in tally.failures.items()
    ]
    listed = "\n".join(failures[:50])
    assert not failures, f"{len(failures)} failures, kept in {tmp_path}:\n{listed}"
    assert sum(tally.cases for tally in tallies.values()) >= 0.98 * CASES
