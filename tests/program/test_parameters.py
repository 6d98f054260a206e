"""Parameters of a program: changing one is building the block with the other value."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from block_table import BLOCKS, ROBOT, K, built, piecewise

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.diagram.build.registry import block_types
from spart_blocks.program import trace
from spart_blocks.program.tracing.rules import RULES

CASES = {
    **{
        f"{name} {key}".strip(): case
        for name, row in BLOCKS.items()
        for key, case in (("", row.tunables), *row.more.items())
        if case is not None
    },
    # blocks of bdsim
    "GAIN": (built("GAIN", (2,)), {"K": (2.0, -3.0)}),
    "GAIN by a matrix": (built("GAIN", (2,), premul=True), {"K": (K, K.T)}),
    "CLIP": (built("CLIP", (3,)), {"min": (-0.5, -0.1), "max": (0.5, [0.1, 0.2, 0.3])}),
    "CONSTANT": (built("CONSTANT"), {"value": ([1.0, 2.0], [3.0, 4.0])}),
    "STEP": (built("STEP"), {"T": (1.0, 2.95), "on": (1.0, 3.0), "off": (0.0, -2.0)}),
    "RAMP": (built("RAMP"), {"T": (1.0, 2.0), "slope": (1.0, 3.0), "off": (0.5, -2.0)}),
    "WAVEFORM": (
        built("WAVEFORM", wave="square"),
        {
            "freq": (1.0, 0.3),
            "phase": (0.1, 0.4),
            "duty": (0.5, 0.1),
            "amplitude": (1.0, 3.0),
            "offset": (0.5, -2.0),
        },
    ),
    "INTEGRATOR": (
        built("INTEGRATOR", (2,), x0=[0, 0]),
        {"gain": (1.0, 3.0), "min": ([-1.5, -1.5], [0.4, 0.4]), "max": ([0.5, 0.5], [-1, -1])},
    ),
    "INTEGRATOR_S": (
        built("INTEGRATOR_S", (2,), clocked=True, x0=[0, 0]),
        {"gain": (1.0, 3.0), "min": ([-0.5, -0.5], [-0.1, -0.2]), "max": ([0.5, 0.5], [0.1, 0.2])},
    ),
    "DERIV_S": (built("DERIV_S", (), clocked=True), {"gain": (1.0, 3.0)}),
    "PIECEWISE": (
        piecewise,
        {"t": ([0.0, 1.0], [0.5, 2.95]), "y": ([1.0, 2.0], [3.0, -4.0])},
    ),
}


def test_every_tunable_has_a_case():
    ours = {kind.name: getattr(kind.cls, "tunable", ()) for kind in block_types()}
    wanted = {(name, attribute) for name, found in ours.items() for attribute in found}
    wanted |= {
        (key.split(".")[1].upper(), attribute)
        for key, rule in RULES.items()
        for attribute in rule.tunable
    }
    told = {(name.split(" ")[0], attribute) for name, (_, v) in CASES.items() for attribute in v}
    elsewhere = {("DINTEGRATOR", "gain"), ("DINTEGRATOR", "min"), ("DINTEGRATOR", "max")}
    # They act where a mass meets a stop: tests/blocks/test_friction.py.
    elsewhere |= {("FRICTION_MASS", "restitution"), ("FRICTION_MASS", "rest_speed")}
    assert wanted - told - elsewhere == set()


@pytest.mark.parametrize(
    ("name", "tunable"), [(name, key) for name, (_, values) in CASES.items() for key in values]
)
def test_a_changed_parameter_is_a_block_built_anew(new_bench, assert_parity, name, tunable):
    build, values = CASES[name]
    one = {key: pair[0] for key, pair in values.items()}
    if name == "CLIP":
        one = {key: [value] * 3 for key, value in one.items()}
    other = {**one, tunable: values[tunable][1]}
    benches = new_bench(), new_bench()
    for bench, chosen in zip(benches, (one, other), strict=True):
        build(bench, chosen)
    program = trace(benches[0].diagram)
    moved = program.with_parameters({f"block.{tunable}": other[tunable]})
    anew = benches[1].diagram
    # Beside the new block the old program must fail, or the comparison could not.
    assert_parity(anew, program=moved, rel=1e-9)
    with pytest.raises(AssertionError):
        assert_parity(anew, program=program, rel=1e-9)


def test_limits_at_infinity_are_no_parameters(bench):
    bench.block("CLIP", max=1.0, wires=[bench.signal()], name="clip")
    names = [slot.name for slot in trace(bench.diagram).parameters]
    assert "clip.max" in names
    assert "clip.min" not in names


def test_a_parameter_has_a_value_and_a_shape(bench):
    bench.block("GAIN", K, wires=[bench.signal(2)], name="gain")
    program = trace(bench.diagram)
    np.testing.assert_array_equal(program.parameter("gain.K"), K)
    moved = program.with_parameters({"gain.K": 3.0})
    np.testing.assert_array_equal(moved.parameter("gain.K"), np.full((2, 2), 3.0))
    np.testing.assert_array_equal(program.parameter("gain.K"), K)
    with pytest.raises(InputError, match=r"no parameter 'gain.k'\n  did you mean 'gain.K'"):
        program.with_parameters({"gain.k": 3.0})
    with pytest.raises(InputError, match=r"gain.K has shape \(2, 2\), not \(2,\)"):
        program.with_parameters({"gain.K": [1.0, 2.0]})


SHARED = """
params: {kp: 4.0, start: [0.5]}
blocks:
  one: {type: GAIN, K: $kp}
  two: {type: GAIN, K: $kp}
  x: {type: INTEGRATOR, x0: $start}
  y: {type: INTEGRATOR, x0: $start}
wires: [x -> one, one -> y, y -> two, two -> x]
"""


def test_a_value_given_to_two_blocks_is_one_parameter(tmp_path):
    (tmp_path / "a.yaml").write_text(SHARED)
    (tmp_path / "b.yaml").write_text(SHARED.replace("4.0", "-3.0").replace("0.5", "0.7"))
    program = trace(sb.load(tmp_path / "a.yaml"))
    names = [slot.name for slot in program.parameters]
    assert {"kp", "start"} <= set(names)
    assert not {"one.K", "two.K", "x.x0", "y.x0"} & set(names)
    moved = program.with_parameters({"kp": -3.0, "start": [0.7]})
    anew = trace(sb.load(tmp_path / "b.yaml"))
    np.testing.assert_array_equal(moved.p, anew.p)
    np.testing.assert_array_equal(moved.x0, [0.7, 0.7])
    at = (0.0, moved.x0, moved.xd0, moved.p)
    np.testing.assert_array_equal(moved.rates(*at), anew.rates(*at))


def test_a_value_given_to_one_block_keeps_the_name_of_its_argument(tmp_path):
    text = SHARED.replace("K: $kp}\n  x", "K: $kp, premul: true}\n  x")
    text = text.replace("kp: 4.0", "kp: [[4.0]]").replace("one: {type: GAIN, K: $kp}",
                                                           "one: {type: GAIN, K: 2.0}")  # fmt: skip
    (tmp_path / "a.yaml").write_text(text)
    assert "two.K" in {slot.name for slot in trace(sb.load(tmp_path / "a.yaml")).parameters}


FILE = """
params: {gain: 2, both: 3, force: 0.5}
blocks:
  one: {type: STEP, T: 0, on: 1}
  a: {type: GAIN, K: $gain}
  b: {type: GAIN, K: $both}
  c: {type: GAIN, K: $both}
  f: {type: FCN, expression: "F * u", arguments: [u], params: {F: $force}}
  sum: {type: SUM, signs: "++++"}
  scope: {type: SCOPE}
wires: ["one -> a, b, c, f", a -> sum.0, b -> sum.1, c -> sum.2, f -> sum.3, sum -> scope]
run: {T: 1}
"""


@pytest.fixture
def filed(tmp_path):
    (tmp_path / "file.yaml").write_text(FILE)
    return trace(sb.load(tmp_path / "file.yaml"))


@pytest.mark.parametrize(
    ("name", "total"), [("gain", 16.5), ("a.K", 16.5), ("both", 22.5), ("force", 18.0)]
)
def test_parameters_answer_to_the_names_that_the_file_uses(filed, name, total):
    changed = filed.with_parameters({name: 10})
    assert changed.parameter(name) == 10
    assert sb.simulate(changed)["sum"][-1] == total
    assert sb.simulate(filed)["sum"][-1] == 8.5


def test_a_name_that_the_file_does_not_use_is_told_with_the_nearest(filed):
    with pytest.raises(InputError, match="did you mean 'gain'"):
        filed.with_parameters({"gian": 1})


def test_a_program_takes_the_start_of_a_plant_by_entries():
    program = trace(sb.load(ROBOT.parents[1] / "diagrams" / "spacecraft_pd.yaml"))
    start = {"plant": {"qm": [0.3, 0, 0], "um": [0, 0.1, 0]}}
    again = pickle.loads(pickle.dumps(program))
    for one in (program, again):
        results = sb.simulate(one, T=0.01, initial=start)
        np.testing.assert_allclose(results["plant.qm"][0], [0.3, 0, 0])
        np.testing.assert_allclose(results["plant.um"][0], [0, 0.1, 0])
    with pytest.raises(InputError, match="has no entry 'qn'"):
        sb.simulate(program, T=0.01, initial={"plant": {"qn": [0, 0, 0]}})
