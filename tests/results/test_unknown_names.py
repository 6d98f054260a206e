"""A name that results do not have is answered with what to do."""

from pathlib import Path

import pytest

import spart_blocks as sb
from spart_blocks.base.errors import InputError

LOOP = """
blocks:
  s: {type: STEP, T: 0.5}
  law: {type: FCN, expression: 2*u, arguments: [u]}
  x: {type: INTEGRATOR}
wires: [s -> law.u, law -> x]
run: {T: 1, log: [x]}
"""


@pytest.fixture
def results(tmp_path):
    path = tmp_path / "loop.yaml"
    path.write_text(LOOP)
    return sb.simulate(path)


def test_a_block_of_one_signal_is_named_by_it_alone(results):
    with pytest.raises(InputError, match="law has one signal, law"):
        results["law.tau"]


def test_what_can_be_computed_is_among_the_choices(results):
    with pytest.raises(InputError, match="did you mean 'law'"):
        results["laww"]


def test_a_file_does_not_hold_what_was_not_kept(tmp_path):
    diagrams = Path(__file__).parents[2] / "diagrams"
    results = sb.simulate(diagrams / "spacecraft_pd.yaml", T=0.01)
    loaded = sb.Results.load(results.save(tmp_path / "run.npz"))
    with pytest.raises(InputError, match=r"not in its file: run it with log: \[plant.taum\]"):
        loaded["plant.taum"]
