"""Ten thousand sequences of random edits, undone, and a hundred thousand pairs of them, merged.

pytest tests/nightly/test_many_random_edits.py
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parents[1] / "versions")]
import test_merge  # noqa: E402
import test_random_edits  # noqa: E402
from random_edits import COMPANY  # noqa: E402

SEQUENCES, PAIRS, PARTS = 10_000, 100_000, 20
SMALL = """\
# A servo, with something of each kind.
params: {k: 2.0, list: [1, 2, 3]} # gains

subsystems:
  lag:
    inputs: [u]
    outputs: [y]
    blocks:
      y: {type: PT1, tau: $k} # slow
    wires: [in.u -> y, y -> out.y]
blocks:
  goal: {type: STEP, T: 1}   # at 1 s
  error: {type: SUM, signs: "+-"}
  gain:
    type: GAIN
    K: $k # of the loop
  lag: {type: lag}
  scope: {type: SCOPE,
          labels: [a, # the goal
                   b]}
wires:
  - goal -> error.0, scope.0
  - error   ->   gain
  - gain -> lag # to the motor
  - lag.y -> error.1, scope.1
run: {T: 5, log: [lag, gain, error]}
expect:
  settles: [{signal: lag, to: 1, within: 0.1}, {signal: gain, to: 0, within: 0.1}]
"""


@pytest.mark.parametrize("path", test_random_edits.FILES, ids=lambda path: path.stem)
def test_sequences_of_edits_of_every_file_are_undone(path):
    test_random_edits.check(path, range(1000, 1000 + SEQUENCES // len(test_random_edits.FILES)))


def test_sequences_of_edits_of_buses_and_machines_are_undone(tmp_path):
    (tmp_path / "company.yaml").write_text(COMPANY)
    test_random_edits.check(tmp_path / "company.yaml", range(SEQUENCES))


@pytest.mark.parametrize("part", range(PARTS))
def test_pairs_of_edits_merge_whole_or_not_at_all(part, tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    for seed in range(part * PAIRS // PARTS, (part + 1) * PAIRS // PARTS):
        test_merge.check_pair(path, seed)
