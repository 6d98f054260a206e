"""A program is one immutable object: it crosses to another process, and differentiates."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.program import trace

DIAGRAMS = Path(__file__).parents[2] / "diagrams"
SHIPPED = sorted(path.stem for path in DIAGRAMS.glob("*.yaml"))


@pytest.fixture(scope="module")
def spacecraft():
    return trace(sb.load(DIAGRAMS / "spacecraft_pd.yaml"))


@pytest.fixture(scope="module")
def sampled():
    return trace(sb.load(DIAGRAMS / "spacecraft_sampled.yaml"))


def at(program, seed=0):
    """A point near the start."""
    rng = np.random.default_rng(seed)
    x, xd = program.x0 + rng.normal(0, 0.1, program.x0.size), program.xd0 + 0.1
    return 0.7, x, xd, program.p


def everything(program):
    functions = (program.rates, program.outputs, *program.updates.values())
    return np.concatenate([np.array(f(*at(program))).ravel() for f in functions])


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_diagram_is_its_program(assert_parity, name):
    assert_parity(sb.load(DIAGRAMS / f"{name}.yaml"), scale=0.3, rel=1e-10)


def test_a_program_runs_bit_for_bit_the_same_in_another_process(sampled, tmp_path):
    (tmp_path / "program.pickle").write_bytes(pickle.dumps(sampled))
    (tmp_path / "point.pickle").write_bytes(pickle.dumps(at(sampled)))
    code = """
import pickle, sys
import numpy as np
program = pickle.load(open(sys.argv[1] + "/program.pickle", "rb"))
point = pickle.load(open(sys.argv[1] + "/point.pickle", "rb"))
assert "bdsim" not in sys.modules
functions = (program.rates, program.outputs, *program.updates.values())
np.save(sys.argv[1] + "/out.npy", np.concatenate([np.array(f(*point)).ravel() for f in functions]))
program.x0[:] = 0
"""
    done = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True)
    assert "read-only" in done.stderr.splitlines()[-1], done.stderr
    assert np.load(tmp_path / "out.npy").tobytes() == everything(sampled).tobytes()


def test_a_program_cannot_be_changed(sampled):
    with pytest.raises(FrozenInstanceError):
        sampled.name = "other"
    for vector in (sampled.x0, sampled.xd0, sampled.p):
        with pytest.raises(ValueError, match="read-only"):
            vector[:] = 0
    with pytest.raises(TypeError):
        sampled.updates["other"] = None


def test_a_pickled_program_is_the_same(sampled):
    again = pickle.loads(pickle.dumps(sampled))
    assert (again.states, again.signals, again.name) == (
        sampled.states, sampled.signals, sampled.name
    )  # fmt: skip
    assert everything(again).tobytes() == everything(sampled).tobytes()


# --- derivatives ---------------------------------------------------------------------------------


def differences(program, output, argument, columns, shape):
    """Central differences of an output by one of (t, x, xd, p)."""
    t, x, xd, p = at(program)
    point = [np.array([t]), x, xd, p]
    function = program.rates if output == "xdot" else program.outputs
    slots = {slot.name: slot for slot in program.signals}
    rows = slice(None) if output == "xdot" else slots[output].part
    found = []
    for k in np.arange(point[argument].size)[columns]:
        ends = []
        for step in (1e-6, -1e-6):
            moved = [value.copy() for value in point]
            moved[argument][k] += step
            ends.append(np.array(function(*moved)).ravel()[rows])
        found.append((ends[0] - ends[1]) / 2e-6)
    return np.array(found).T.reshape(shape)


QUESTIONS = [
    ("xdot", "x", 1), ("xdot", "t", 0), ("plant.qm", "plant", 1), ("plant.R0", "x", 1),
    ("ctrl.tau", "ctrl.kp", 3), ("xdot", "ctrl.kd", 3), ("ctrl.tau", "x", 1),
]  # fmt: skip


@pytest.mark.parametrize(("output", "wrt", "argument"), QUESTIONS)
def test_a_jacobian_agrees_with_differences(spacecraft, output, wrt, argument):
    t, x, xd, p = at(spacecraft)
    got = spacecraft.jacobian(output, wrt, t=t, x=x, xd=xd, p=p)
    slots = {slot.name: slot for slot in (*spacecraft.states, *spacecraft.parameters)}
    columns = slots[wrt].part if wrt in slots else slice(None)
    want = differences(spacecraft, output, argument, columns, got.shape)
    np.testing.assert_allclose(got, want, rtol=2e-6, atol=2e-6 * max(1, np.abs(want).max()))


def test_a_jacobian_has_the_shapes_of_both(spacecraft):
    kp = spacecraft.parameter("ctrl.kp")
    assert spacecraft.jacobian("plant.R0", "x").shape == (3, 3, spacecraft.x0.size)
    assert spacecraft.jacobian("ctrl.tau", "ctrl.kp").shape == (3, *kp.shape)
    assert spacecraft.jacobian("ctrl.tau", "t").shape == (3,)


def test_a_jacobian_is_at_the_start_unless_told(spacecraft):
    start = spacecraft.jacobian("xdot", "x")
    given = spacecraft.jacobian("xdot", "x", t=0, x=spacecraft.x0, xd=spacecraft.xd0)
    np.testing.assert_array_equal(start, given)


def test_an_unknown_name_is_an_error_with_the_nearest(spacecraft):
    with pytest.raises(InputError, match=r"no signal 'plant.qn'\n  did you mean 'plant.qm'"):
        spacecraft.jacobian("plant.qn", "x")
    with pytest.raises(InputError, match=r"no state or parameter 'ctrl.kq'\n  did you mean"):
        spacecraft.jacobian("xdot", "ctrl.kq")


# --- structure ------------------------------------------------------------------------------------


def test_what_nobody_moves_is_folded(bench):
    one = bench.block("TIME")
    for _ in range(20):
        one = bench.block("GAIN", 1.0, wires=[one])
    program = trace(bench.diagram).with_parameters({})
    used = program.outputs.n_instructions()
    assert used < 20 * 3 + 30  # a load, a product, a store for each gain; nothing else


def test_twins_are_computed_once(bench):
    one = bench.signal(3)
    functions = [bench.block("FUNCTION", lambda v: np.sin(v), wires=[one]) for _ in range(2)]
    assert len(functions) == 2
    program = trace(bench.diagram)
    sines = [program.outputs.instruction_id(k) for k in range(program.outputs.n_instructions())]
    import casadi

    assert sines.count(casadi.OP_SIN) == 3
