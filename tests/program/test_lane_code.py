"""Functions of programs in several lanes: each lane's bits are those of one lane."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import casadi as ca
import lane_libraries
import numpy as np
import pytest
from lane_libraries import STRICT, Lanes, same_bits, text_of
from operations import every_operation

import spart_blocks as sb
from spart_blocks.program.c.compiler import compiler_name
from spart_blocks.program.c.dialects import LANES
from spart_blocks.program.c.functions import unsupported
from spart_blocks.program.tracing.lookup_tables import called_line
from spart_blocks.program.tracing.symbol_scalar import Symbol, sx_of

ROOT = Path(__file__).parents[2]
WIDE = 8

pytestmark = pytest.mark.skipif(compiler_name() is None, reason="no C compiler")


def functions_of(program):
    """Every function (t, x, xd, p) -> column of a program, and `advance`."""
    found = {
        name: getattr(program, name)
        for name in ("rates", "held", "outputs", "watched", "project", "reach", "switched")
    }
    found["advance"] = program.advance
    found |= {f"tick_{k}": f for k, f in enumerate(program.updates.values())}
    found |= {f"handover_{k}": one.renewed for k, one in enumerate(program.handovers)}
    found |= {f"reset_{k}": f for k, f in enumerate(program.resets.values())}
    return {f"program_{name}": f for name, f in found.items() if f is not None}


def near_the_start(program, function, rng, count):
    """Rows of each argument of a function, scattered about the nominal ones."""
    h = np.full(1, 0.01)
    nominal = {"t": np.zeros(1), "x": program.x0, "xd": program.xd0, "p": program.p, "h": h}
    rows = []
    for name in function.name_in():
        value = nominal.get(name, program.x0)
        noise = rng.standard_normal((count, len(value)))
        rows.append(value * (1 + 0.05 * noise) if name in "ph" else value + 0.1 * np.abs(noise))
    return rows


def assert_lanes_are_alike(program, flags=STRICT):
    functions = functions_of(program)
    one, wide = (Lanes(functions, lanes, flags=flags) for lanes in (1, WIDE))
    rng = np.random.default_rng(3)
    for name, function in functions.items():
        rows = near_the_start(program, function, rng, WIDE)
        alone, together = one(name, *rows), wide(name, *rows)
        assert same_bits(alone, together), name
        exact, nudged = (
            np.array([np.array(function(*row)).ravel() for row in zip(*given, strict=True)])
            for given in (rows, [np.nextafter(v, np.inf) for v in rows])
        )
        allowed = 1e-12 * np.maximum(1, np.abs(exact)) + 20 * np.abs(nudged - exact)
        assert (np.abs(alone - exact) <= allowed).all(), name


@pytest.mark.parametrize("name", ["signals/thrusters", "spacecraft_sampled", "loops/four_bar"])
def test_each_lane_of_a_diagram_is_as_alone(name):
    """Runs of all diagrams are compared in tests/nightly/test_lanes_of_every_diagram.py."""
    assert_lanes_are_alike(sb.trace(ROOT / "diagrams" / f"{name}.yaml"))


@pytest.mark.parametrize("single", [False, True])
def test_every_operation_is_alike_in_all_lanes(single):
    functions = {"f": every_operation()}
    rng = np.random.default_rng(2)
    x = rng.uniform(-3, 3, (400, 3))
    x[:27] = np.array(np.meshgrid(*3 * [[-1.0, 0.0, 1.0]])).reshape(3, -1).T
    p = np.tile([3.0, -0.5], (400, 1))
    alone = Lanes(functions, 1, single=single)("f", x, p)
    for lanes in (2, 4, 8)[single:]:
        assert same_bits(Lanes(functions, lanes, single=single)("f", x, p), alone)
    exact = np.array([np.array(functions["f"](*row)).ravel() for row in zip(x, p, strict=True)])
    bound = 1e-4 if single else 1e-13
    with np.errstate(invalid="ignore"):
        near = np.abs(alone - exact) <= bound * np.maximum(1, np.abs(exact))
    agreed = near | (alone == exact) | (np.isnan(alone) & np.isnan(exact))
    assert agreed.mean() > (0.99 if single else 0.9999)  # jumps, and what single precision rounds


def test_a_function_of_another_kind_is_refused_in_words():
    x = ca.SX.sym("x")
    unknown = ca.Function("f", [x], [ca.erfinv(x)])
    assert "no equivalent in math.h" in unsupported(unknown, LANES)
    v = ca.MX.sym("v")
    assert unsupported(ca.Function("f", [v], [v]), LANES) == "f is no function of scalars"
    assert unsupported(every_operation(), LANES) is None


@pytest.mark.parametrize("even", [True, False])
def test_large_tables_are_looked_up_in_each_lane(even):
    points = np.linspace(-1, 2, 300)
    if not even:
        points = np.sort(np.random.default_rng(4).uniform(-1, 2, 300))
    table = called_line(points, np.sin(3 * points))
    x = ca.SX.sym("x")
    value = sx_of(table(Symbol(x)))
    functions = {"f": ca.Function("f", [x], [value], ["x"], ["y"])}
    slope = ca.Function("g", [x], [ca.densify(ca.jacobian(value, x))], ["x"], ["y"])
    functions["g"] = slope
    rows = np.linspace(-1.2, 2.2, 400)[:, None]
    for name, function in functions.items():
        alone = Lanes(functions, 1)(name, rows)
        assert same_bits(Lanes(functions, 8)(name, rows), alone)
        exact = np.array([float(function(u)) for u in rows.ravel()])
        np.testing.assert_allclose(alone[:, 0], exact, rtol=1e-9, atol=1e-9)


LOOP = """
name: loop
blocks:
  t: {type: TIME}
  f: {type: FCN, expression: "z**3 + z - 3*sin(t)", arguments: [z]}
  z: {type: ALGEBRAIC_CONSTRAINT}
  x: {type: INTEGRATOR}
wires: [z -> f.z, f -> z, z -> x]
run: {T: 1}
"""


@pytest.mark.parametrize("name", ["signals/limited_servo", "loop"])
def test_a_function_in_pieces_is_the_same_one(name, monkeypatch, tmp_path):
    """So is the Newton step of a loop that is solved."""
    (tmp_path / "loop.yaml").write_text(LOOP)
    path = ROOT / "diagrams" / f"{name}.yaml"
    program = sb.trace(path if path.exists() else tmp_path / "loop.yaml")
    monkeypatch.setattr(lane_libraries, "LANES", replace(LANES, longest=7, piece=7))
    assert_lanes_are_alike(program)


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no CUDA compiler")
def test_the_same_text_is_a_kernel_of_cuda(tmp_path):
    program = sb.trace(ROOT / "diagrams" / "spacecraft_pd.yaml")
    text = text_of({"rates": program.rates, "outputs": program.outputs}, 1)
    (tmp_path / "program.cu").write_text(text.replace("void call_", "SB_KERNEL void call_"))
    command = ["nvcc", "-arch=sm_90", "-cubin", "--fmad=false", "program.cu"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
