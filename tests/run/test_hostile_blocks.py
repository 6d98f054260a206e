"""Whatever a block raises names the block and where it is written; a run never shows a trace."""

from __future__ import annotations

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import DiagramError, InputError, RunError
from spart_blocks.diagram import load
from spart_blocks.program import TraceError
from spart_blocks.results import FinalState
from spart_blocks.run import begin, finish

TEXT = """
blocks:
  c: {type: CONSTANT, value: 1}
  g: {type: GAIN, K: 2}
  i: {type: INTEGRATOR}
wires: [c -> g, g -> i]
run: {T: 0.1}
"""


@pytest.fixture
def diagram(tmp_path):
    file = tmp_path / "d.yaml"
    file.write_text(TEXT)
    return load(file)


def block(diagram, name):
    return next(b for b in diagram.bd.blocklist if b.name == name)


# What may stand in a block that was made in Python, where no loader looks.
JUNK = [[1, [2, 3]], [1, {"a": 2}], {"a": 1}, object(), "text", [[1, 2], [3]]]


@pytest.mark.parametrize("junk", JUNK, ids=lambda junk: str(junk)[:12])
def test_what_is_no_signal_names_the_block_and_its_line(diagram, junk):
    block(diagram, "c").value = junk
    for engine, error in (("interpreter", RunError), ("native", TraceError)):
        with pytest.raises((error, DiagramError)) as caught:
            sb.simulate(diagram, engine=engine)
        assert "d.yaml:" in str(caught.value)
        assert "block " in str(caught.value)


@pytest.mark.parametrize("method", ["output", "deriv", "getstate0"])
def test_whatever_a_block_raises_names_it(diagram, method):
    def fail(*_):
        raise StopIteration

    setattr(block(diagram, "i"), method, fail)
    with pytest.raises(RunError, match=r"block i: .* failed: StopIteration.*\n.*\n.*d.yaml:5:3"):
        sb.simulate(diagram, engine="interpreter")
    if method == "getstate0":  # the others are not called on an engine of expressions
        with pytest.raises(TraceError, match=r"block i \(INTEGRATOR\).*StopIteration"):
            sb.simulate(diagram, engine="native")


def test_what_a_solver_raises_is_an_error_of_the_run(diagram, monkeypatch):
    def fail(*_):
        raise np.linalg.LinAlgError("no convergence")

    monkeypatch.setattr("spart_blocks.run.loop._loop", fail)
    with pytest.raises(RunError, match="the run failed: LinAlgError: no convergence at t = 0 s"):
        sb.simulate(diagram, engine="interpreter")


def test_what_progress_raises_is_its_own(diagram):
    def stop(t, T):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        finish(begin(diagram, engine="interpreter", progress=stop))


def test_many_ticks_at_one_instant_are_no_crossings(tmp_path):
    """10,000 ticks within a millionth of the run, and nothing that crosses."""
    file = tmp_path / "d.yaml"
    file.write_text(
        "clocks: {c: {T: 1e-11}}\n"
        "blocks: {t: {type: TIME}, z: {type: ZOH, clock: c}, n: {type: 'NULL'}}\n"
        "wires: [t -> z, z -> n]\nrun: {T: 1, every: 1}\n"
    )
    diagram = load(file)
    end = FinalState(1 - 1.2e-7, {}, {"z": np.zeros(1)}, {})
    done = sb.simulate(diagram, engine="interpreter", initial=end)
    assert done.complete


STRAY = ["[1, {a: 1}]", "[1, null]", "[1, [2]]", "[[1, 2], [3]]", "[1, true]"]


@pytest.mark.parametrize("field", ["value", "K"])
@pytest.mark.parametrize("text", STRAY)
def test_what_is_no_number_in_a_file_is_wrong_input(tmp_path, field, text):
    file = tmp_path / "d.yaml"
    kind = "CONSTANT" if field == "value" else "GAIN"
    file.write_text(f"blocks: {{x: {{type: {kind}, {field}: {text}}}}}\nwires: []\n")
    with pytest.raises(InputError, match=f"{field} of x .*(among its numbers|has rows of)"):
        load(file)
