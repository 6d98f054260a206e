"""Every block of bdsim becomes the expression that its code computes."""

from __future__ import annotations

import ast
from pathlib import Path

import bdsim.blocks
import numpy as np
import pytest
import robots

from spart_blocks.diagram.network.flatten import flatten
from spart_blocks.program import TraceError, trace
from spart_blocks.program.tracing.rules import OPENED, RULES, SINK

A = np.array([[-1.0, 0.5], [0.2, -2.0]])
B = np.array([[1.0, 0.3], [0.0, 2.0]])
C = np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 1.0]])
K = np.array([[2.0, 1.0], [0.5, -1.0]])
TABLE = {"x": [0.0, 1.0, 2.5, 3.0, 5.0], "y": [0.0, 2.0, -1.0, 1.0, 4.0]}


def classes_of_bdsim():
    """'module.Class' of every block class in the installed package."""
    for file in sorted(Path(bdsim.blocks.__file__).parent.glob("[a-z]*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                yield f"{file.stem}.{node.name}"


def test_every_block_of_bdsim_has_a_rule_or_a_reason():
    assert set(classes_of_bdsim()) == set(RULES)


# --- one diagram for each way a block can be used -------------------------------------------


def wired(kind, /, *shapes, args=(), **options):
    """A block with signals of these shapes at its inputs."""

    def build(bench):
        wires = [bench.signal(*shape) for shape in shapes]
        bench.block(kind, *args, wires=wires, **options)

    return build


def sampled(kind, /, *shapes, args=(), **options):
    def build(bench):
        wires = [bench.signal(*shape) for shape in shapes]
        bench.block(kind, bench.clock(), *args, wires=wires, **options)

    return build


def inverted(*shape, **options):
    def build(bench):
        block = bench.block("INVERSE", wires=[bench.signal(*shape)], **options)
        bench.block("GAIN", 2.0, wires=[block[0]])

    return build


CASES = {
    "connections.Mux": [wired("MUX", (), (), nin=2), wired("MUX", (2,), (), (2, 2), nin=3)],
    "connections.DeMux": [wired("DEMUX", (3,), nout=3)],
    "connections.Index": [
        wired("INDEX", (4,), args=([2],)),
        wired("INDEX", (4,), args=([3, 0, 1],)),
        wired("INDEX", (3, 2), args=([1],)),
    ],
    "continuous.Integrator": [
        wired("INTEGRATOR", ()),
        wired("INTEGRATOR", (3,), x0=[1, 2, 3], gain=2.5),
        wired("INTEGRATOR", (3,), x0=[0, 0, 0], min=[-0.5] * 3, max=[0.2, 0.5, 1.0]),
        wired("INTEGRATOR", (), min=-0.1),
    ],
    "continuous.LTI_SS": [
        wired("LTI_SS", (), (), A=A, B=B, C=C[:1], x0=np.zeros(2)),
        wired("LTI_SS", (), A=A, B=B[:, 0], C=C[0], D=np.array([[0.5]]), x0=np.zeros(2)),
    ],
    "continuous.LTI_SISO": [
        wired("LTI_SISO", (), N=[1, 2], D=[2, 3, -4]),
        wired("LTI_SISO", (), N=[1, 2, 3], D=[2, 3, -4], form="ocf", order="forward"),
    ],
    "continuous.Deriv2": [wired("DERIV2", (), wn=3.0)],
    "functions.Sum": [
        wired("SUM", (), (), args=("+-",)),
        wired("SUM", (3,), (), (3,), args=("-+-",)),
        wired("SUM", (2, 2), (2, 2)),
        wired("SUM", (), (), args=("+-",), mode="c"),
        wired("SUM", (4,), (4,), args=("++",), mode="rcCL"),
        wired("SUM", (1,), (1,), args=("+-",), mode="C"),
        wired("SUM", (2, 3), (2, 3), args=("+-",), mode="cr"),
    ],
    "functions.Prod": [
        wired("PROD", (), (), (), args=("*/*",)),
        wired("PROD", (), (), args=("/*",)),
        wired("PROD", (3, 3), (3, 3), args=("*/",)),
        wired("PROD", (2, 2), (2,), args=("**",)),
        wired("PROD", (2, 2), (), args=("/*",)),
    ],
    "functions.Gain": [
        wired("GAIN", (), args=(2,)),
        wired("GAIN", (3,), args=(2.5,)),
        wired("GAIN", (2,), args=(K,)),
        wired("GAIN", (2,), args=(K,), premul=True),
        wired("GAIN", (2,), args=([3.0, 4.0],)),
        wired("GAIN", (), args=(K,)),
    ],
    "functions.Pow": [
        wired("POW", (), args=(2,)),
        wired("POW", (3,), args=(3,)),
        wired("POW", (2, 2), args=(-1,)),
        wired("POW", (2, 2), args=(3,), matrix=True),
        wired("POW", (2, 2), args=(-2,), matrix=True),
        wired("POW", (3, 3), args=(0,), matrix=True),
    ],
    "functions.Clip": [
        wired("CLIP", (), args=(-0.5, 0.5)),
        wired("CLIP", (), max=0.1),
        wired("CLIP", (3,), min=[-0.1, -0.2, -0.3], max=1),
    ],
    "functions.Function": [
        wired("FUNCTION", (), args=(lambda x: np.sin(x) * x,)),
        wired("FUNCTION", (3,), (), args=(lambda x, y: [x * y, x @ x],), nin=2, nout=2),
        wired("FUNCTION", (3,), args=([lambda x: x[0], lambda x: x**2],), nout=2),
        wired("FUNCTION", (), args=(lambda x, a, b=1: a * x + b, 1, 1, False, [3.0], {"b": 2.0})),
    ],
    "functions.Interpolate": [
        wired("INTERPOLATE", time=True, **TABLE),
        wired("INTERPOLATE", time=True, kind="previous", **TABLE),
        wired("INTERPOLATE", time=True, kind="next", **TABLE),
        wired("INTERPOLATE", time=True, kind="nearest", **TABLE),
        wired("INTERPOLATE", time=True, kind="nearest-up", **TABLE),
        wired("INTERPOLATE", time=True, kind="zero", **TABLE),
        wired("INTERPOLATE", time=True, kind="quadratic", **TABLE),
        wired("INTERPOLATE", time=True, kind="cubic", **TABLE),
        wired("INTERPOLATE", time=True, xy=np.array([[0, 1, 2], [2, 5, -2], [9, 0, 1.0]])),
        wired("INTERPOLATE", (), x=[-9.0, 0.0, 9.0], y=[1.0, 5.0, -2.0]),
        wired("INTERPOLATE", (3,), x=[-9.0, 0.0, 9.0], y=[1.0, 5.0, -2.0]),
        wired("INTERPOLATE", (3,), x=[-9.0, 0.0, 9.0], y=np.arange(6.0).reshape(3, 2)),
    ],
    "linalg.Inverse": [inverted(2, 2), inverted(3, 3), inverted(1, 1)],
    "linalg.Transpose": [wired("TRANSPOSE", (3,)), wired("TRANSPOSE", (2, 3))],
    "linalg.Norm": [
        wired("NORM", (3,)),
        wired("NORM", (3,), ord=1),
        wired("NORM", (3,), ord=np.inf),
        wired("NORM", (3,), ord=3),
        wired("NORM", (2, 3)),
        wired("NORM", (2, 3), ord=2),
        wired("NORM", (2, 3), ord="nuc"),
        wired("NORM", (2, 3), ord=-np.inf),
        wired("NORM", (2, 3), axis=1),
        wired("NORM", (2, 3), axis=0, ord=1),
    ],
    "linalg.Flatten": [wired("FLATTEN", (2, 3)), wired("FLATTEN", (2, 3), order="F")],
    "linalg.Slice1": [
        wired("SLICE1", (4,), index=[2, 0]),
        wired("SLICE1", (4,), index=(None, None, -1)),
        wired("SLICE1", (4,), index=[1]),
    ],
    "linalg.Slice2": [
        wired("SLICE2", (3, 3), rows=[0, 2]),
        wired("SLICE2", (3, 3), rows=[0, 2], cols=[1, 1]),
        wired("SLICE2", (3, 3), cols=(None, None, 2)),
    ],
    "linalg.Det": [wired("DET", (1, 1)), wired("DET", (4, 4))],
    "linalg.Cond": [wired("COND", (2, 2)), wired("COND", (3, 3)), wired("COND", (2, 4))],
    "sampled.ZOH": [sampled("ZOH", ()), sampled("ZOH", (2,), x0=[1, 2])],
    "sampled.Integrator_S": [
        sampled("INTEGRATOR_S", (), gain=3),
        sampled("INTEGRATOR_S", (2,), x0=[0, 0], min=[-0.1, -1.0], max=[0.2, 0.3]),
        sampled("INTEGRATOR_S", (), enable=lambda t, u, x: abs(u[0]) < 0.5),
    ],
    "sampled.DIntegrator": [sampled("DINTEGRATOR", (2,), x0=[0, 0], gain=2.0)],
    "sampled.Deriv_S": [sampled("DERIV_S", ()), sampled("DERIV_S", (2,), x0=[0, 0], gain=3.0)],
    "sampled.LTI_SS_S": [
        sampled("LTI_SS_S", (), (), A=A, B=B, C=C[:1]),
        sampled("LTI_SS_S", (), A=A, B=B[:, 0], C=C[0], D=np.array([[0.5]])),
    ],
    "sampled.LTI_SISO_S": [sampled("LTI_SISO_S", (), N=[1, 2], D=[2, 3, -4])],
    "sources.Constant": [
        wired("CONSTANT", value=3),
        wired("CONSTANT", value=[1, 2.5]),
        wired("CONSTANT", value=K),
    ],
    "sources.Time": [wired("TIME")],
    "sources.Step": [
        wired("STEP", T=1.0, off=-1, on=2),
        wired("STEP", T=0.0),
        wired("STEP", T=1.0, off=[0, 0], on=[0.5, -0.3]),
    ],
    "sources.Ramp": [
        wired("RAMP", T=1.0, off=0.5, slope=2),
        wired("RAMP", T=0.37, off=np.zeros(2), slope=np.array([1.0, -1.0])),
    ],
    "sources.WaveForm": [
        wired("WAVEFORM", wave=wave, freq=freq, phase=phase, amplitude=2.0, offset=-1.0)
        for wave in ("sine", "square", "triangle")
        for freq, phase in ((1.0, 0.0), (2.0, 0.3))
    ]
    + [wired("WAVEFORM", wave="square", duty=0.37), wired("WAVEFORM", unit="rad/s", min=0, max=5)],
    "sources.Piecewise": [
        wired("PIECEWISE", seq=[(0, 1), (0.37, 0.5), (1.0, -2), (2.9, 0)]),
        wired("PIECEWISE", seq=[(1.0, 1), (2.9, 5)]),
        wired("PIECEWISE", seq=[(0, 7.0)]),
    ],
}  # fmt: skip


def test_every_traced_block_has_a_case():
    # These compare equal to OWN, which says something else.
    silent = {
        name
        for name, rule in RULES.items()
        if rule is OPENED or rule is SINK or name.startswith("sinks.")
    }
    traced = {name for name, rule in RULES.items() if name not in silent and not rule.reason}
    assert traced == set(CASES)


ALL = [(name, number) for name, cases in CASES.items() for number in range(len(cases))]


@pytest.mark.parametrize(("name", "number"), ALL, ids=[f"{n}-{k}" for n, k in ALL])
def test_a_block_is_its_expression(bench, assert_parity, name, number):
    CASES[name][number](bench)
    # Norms, inverses and condition numbers amplify rounding by the condition itself.
    loose = name.startswith("linalg.") or name in ("functions.Prod", "functions.Pow")
    # Times include the edges of every step, ramp, waveform and table above.
    times = (0.0, 0.25, 0.37, 0.5, 0.75, 1.0, 1.25, 1.75, 2.5, 2.9, 3.0, 5.0)
    assert_parity(bench.diagram, times=times, rel=1e-9 if loose else 1e-12)


def test_a_subsystem_of_bdsim_is_traced_through(bench, assert_parity):
    for structure in ("parallel", "series", "ideal"):
        wires = [bench.signal(), bench.signal()]
        bench.block("PID", P=3, I=2, D=1.5, I_limit=0.5, structure=structure, wires=wires)
    bench.block("DERIV", alpha=5.0, y0=0.3, gain=2.0, wires=[bench.signal()])
    wires = [bench.signal(), bench.signal()]
    bench.block("PID_S", bench.clock(), P=3, I=2, D=1.5, I_band=0.5, wires=wires)
    assert_parity(bench.diagram)


def test_attitude_conversions_are_their_expressions(bench, assert_parity):
    bench.block("R_AXIS_ANGLE", wires=[bench.block("ANGLES321_R", wires=[bench.signal(3)])])
    bench.block("QUAT_PRODUCT", wires=[bench.signal(4), bench.signal(4)])
    for kind in ("QUAT_LEFT_MATRIX", "QUAT_RIGHT_MATRIX"):
        bench.block(kind, wires=[bench.signal(4)])
    bench.block("SKEW_MATRIX", wires=[bench.signal(3)])
    assert_parity(bench.diagram, rel=1e-9)


def test_inertia_matrices_by_the_complement_are_their_expressions(bench, assert_parity):
    robot = robots.random_robot(20, 2)
    N, Ndot = (bench.signal(18, 6 + robot.nu) for _ in range(2))
    I0, Im = bench.signal(3, 3), bench.signal(2, 3, 3)
    bench.block("GIM_NOC", robot, wires=[N, I0, Im])
    bench.block("CIM_NOC", robot, wires=[N, Ndot, bench.signal(6), bench.signal(2, 6), I0, Im])
    assert_parity(bench.diagram)


def test_sinks_do_not_stand_in_the_way(bench, assert_parity):
    u = bench.signal()
    for kind in ("PRINT", "STOP", "WATCH", "SCOPE"):
        bench.block(kind, wires=[u])
    bench.block("NULL", nin=2, wires=[u, u])
    assert_parity(bench.diagram)


@pytest.mark.parametrize("size", [(1, 1), (2, 2), (3, 3), (4, 4), (6, 6), (8, 8), (8, 3), (2, 7)])
def test_singular_values_reach_rounding(bench, evaluate, size):
    block = bench.function(lambda a: np.linalg.norm(a, -2), size)
    program = trace(bench.diagram)
    rng = np.random.default_rng(3)
    for decades in (0, 3, 6):
        u, s, v = np.linalg.svd(rng.normal(size=size), full_matrices=False)
        s = np.logspace(0, -decades, len(s))
        got = evaluate(program, 0.0, (u * s @ v).ravel(), [])[0][block.name]
        assert abs(got - s[-1]) < 1e-14, decades


def test_outside_its_table_an_interpolation_is_no_number(bench, evaluate):
    block = bench.block("INTERPOLATE", x=[0, 1], y=[0, 1], wires=[bench.signal()])
    program = trace(bench.diagram)
    at = [float(evaluate(program, 0.0, [x], [])[0][block.name]) for x in (-0.1, 0, 1, 1.1)]
    assert np.isnan(at[0])
    assert at[1:3] == [0, 1]
    assert np.isnan(at[3])


@pytest.mark.parametrize("name", [name for name, rule in RULES.items() if rule.reason])
def test_what_is_not_traced_says_why(name):
    assert len(RULES[name].reason) > 20


REFUSED = {
    "its output is a dictionary": wired("DICT", (), (), keys=["a", "b"]),
    "it passes SE3 or SO3 objects": wired("POSEINTEGRATOR", (6,)),
    "a fractional power of a matrix": wired("POW", (2, 2), args=(0.5,), matrix=True),
    "takes a pseudo-inverse": wired("INVERSE", (2, 3)),
    "its value is a str, not numbers": wired("CONSTANT", value="text"),
    "keeps a memory of its own": wired(
        "FUNCTION", (), args=(lambda x, memory: x,), persistent=True, fargs=[]
    ),
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_refusal_names_the_block_and_the_reason(bench, text):
    REFUSED[text](bench)
    diagram = bench.diagram
    kind = diagram.bd.blocklist[-1].type.upper()
    with pytest.raises(TraceError, match=text) as caught:
        trace(diagram, flatten(diagram.bd))
    assert f"({kind})" in str(caught.value)
