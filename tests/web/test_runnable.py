"""The WebAssembly of a page gives the bits of a lane, and its data what a page needs."""

from __future__ import annotations

import json
import os
from importlib.util import find_spec

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import DiagramError, InputError, SpartError
from spart_blocks.dynamics import frame_of_link, kinematics
from spart_blocks.program.c.compiler import NoCompilerError
from spart_blocks.web.executed import Executed, differing
from spart_blocks.web.runnable import Runnable

needs_wasm = pytest.mark.skipif(
    not (find_spec("ziglang") and find_spec("wasmtime")), reason="needs ziglang and wasmtime"
)
SWITCHED = """
name: switched
params: {kp: 4.0}
declare:
  kp: {unit: 1/s, min: 0.5, max: 20, doc: the gain}
blocks:
  ref: {type: STEP, T: 0.3, off: 0, on: 1}
  wave: {type: PULSE, amplitude: 0.2, period: 1.1, width: 0.4}
  gain: {type: GAIN, K: $kp}
  error: {type: SUM, signs: "++-"}
  state: {type: INTEGRATOR, x0: 0.2}
  show: {type: SCOPE, nin: 2}
wires:
  - ref -> error.0, show.0
  - wave -> error.1
  - error -> gain
  - gain -> state
  - state -> error.2, show.1
run: {T: 3.0}
expect:
  stays_within: [{signal: state, low: 0, high: 2}]
  final: [{signal: state, value: 1.1, within: 0.2}]
"""


@pytest.fixture
def switched(load):
    return Runnable.of(load(SWITCHED))


@needs_wasm
@pytest.mark.parametrize(
    "file",
    [
        "diagrams/spacecraft_pd.yaml",
        "diagrams/spacecraft_sampled.yaml",
        "diagrams/control/lqr.yaml",
    ],
)
def test_the_states_of_a_page_have_the_bits_of_a_lane(file):
    assert differing(Runnable.of(sb.load(file))) is None


@needs_wasm
def test_other_parameters_give_the_bits_of_a_lane_with_them(switched):
    program = switched.program
    other = program.with_parameters({"kp": 7.3, "state.x0": -0.4, "ref.T": 0.7}).p
    ran, wanted = Executed(switched).run(other), switched.reference(other)
    np.testing.assert_array_equal(ran.rows, wanted.rows[0])
    assert not np.array_equal(ran.rows, switched.reference().rows[0])


@needs_wasm
def test_the_shown_signals_are_those_of_the_rows(switched):
    ran, program = Executed(switched).run(), switched.program
    t = switched.setup.samples
    for slot, one in zip(switched.shown, switched.data["signals"], strict=True):
        column = slice(one["at"], one["at"] + one["count"])
        for k in (0, 17, len(t) - 1):
            x, xd = np.split(ran.rows[k], [len(program.x0)])
            wanted = np.array(program.outputs(t[k], x, xd, program.p)).ravel()[slot.part]
            np.testing.assert_allclose(ran.shown[k, column], wanted, rtol=1e-14)


@needs_wasm
def test_the_frames_are_those_of_the_bodies():
    made = Runnable.of(sb.load("diagrams/spacecraft_pd.yaml"))
    ran = Executed(made).run()
    ((plant, seen),) = made.plants
    first = sum(one["count"] for one in made.data["signals"])
    for k in (0, 300):
        s = plant.parts(ran.rows[k])
        K = kinematics(s.R0, s.r0, s.qm, plant.robot)
        for number, body in enumerate(seen.bodies):
            T = frame_of_link(body.link, s.R0, s.r0, K.RL, K.rL, plant.robot)
            found = ran.shown[k, first + 12 * number :][:12].reshape(3, 4)
            np.testing.assert_allclose(found, T[:3], atol=1e-14)


def test_the_data_names_parameters_with_unit_bounds_and_states(switched):
    data = switched.data
    found = {one["name"]: one for one in data["parameters"]}
    assert next(iter(found)) == "kp"
    assert list(found)[-1] == "state.x0"
    kp = found["kp"]
    assert (kp["unit"], kp["min"], kp["max"], kp["doc"]) == ("1/s", 0.5, 20, "the gain")
    assert [data["p"][one[0]] for one in kp["places"]] == [4.0]
    assert 0 < found["wave.period"]["min"] < 1e-30  # its block takes no other
    assert found["state.x0"]["start"]
    assert not kp["start"]
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert [one["judged"] for one in data["claims"]] == ["extremes", "last"]


def test_states_that_are_nobody_s_are_no_parameters():
    names = {
        p["name"] for p in Runnable.of(sb.load("diagrams/spacecraft_pd.yaml")).data["parameters"]
    }
    assert "plant.x0" in names
    assert not any(".audit" in name for name in names)


@needs_wasm
def test_a_stiff_run_is_made_by_an_implicit_method(load):
    text = """
name: vdp
blocks:
  x: {type: INTEGRATOR, x0: 2.0}
  v: {type: INTEGRATOR, x0: 0.0}
  law: {type: FCN, expression: "1e5 * ((1 - x**2) * v - x)", arguments: [x, v]}
wires:
  - v -> x, law.v
  - x -> law.x
  - law -> v
run: {T: 2.0}
"""
    made = Runnable.of(load(text))
    assert made.setup.made.method.implicit is not None
    assert differing(made) is None


def test_a_diagram_with_links_is_refused_with_their_names():
    with pytest.raises(DiagramError, match="sensors, actuators: a page has no connections"):
        Runnable.of(sb.load("diagrams/arm_over_udp.yaml"))


def test_a_claim_of_another_shape_is_refused_before_anything_is_compiled(load):
    text = SWITCHED.replace("value: 1.1", "value: [1, 2]")
    with pytest.raises(InputError, match="final: state is a number, the value has shape"):
        Runnable.of(load(text))


def test_a_step_of_another_shape_is_answered_by_nothing(load):
    text = SWITCHED.replace("off: 0, on: 1}", "off: [0, 0], on: [1, 2]}")
    text = text.replace("ref -> error.0, show.0", "ref -> show.0").replace(
        "wave -> error.1", "wave -> error.0, error.1"
    )
    made = Runnable.of(load(text + "  rise_time: [{signal: state, to: ref, limit: 1}]\n"))
    assert made.data["claims"][-1]["at"] == []


def test_a_block_that_cannot_be_traced_is_refused_by_name(load):
    text = """
name: opaque
blocks:
  one: {type: CONSTANT, value: 1}
  own: {type: FUNCTION, func: "lambda u: u if u > 0 else -u"}
  state: {type: INTEGRATOR}
wires:
  - one -> own
  - own -> state
run: {T: 1.0}
"""
    with pytest.raises(SpartError, match="own"):
        Runnable.of(load(text))


def test_sliding_states_are_refused_with_the_reason(load):
    with pytest.raises(InputError, match="cannot run in a page: run: sliding is filippov"):
        Runnable.of(load(SWITCHED.replace("T: 3.0}", "T: 3.0, sliding: filippov}")))


def test_a_run_that_lanes_hand_back_is_refused():
    with pytest.raises(InputError, match="limited-servo cannot run in a page: its states slide"):
        Runnable.of(sb.load("diagrams/signals/limited_servo.yaml"))


def test_without_a_compiler_for_browsers_the_hint_names_the_extra(switched, monkeypatch):
    monkeypatch.setitem(os.environ, "SPART_COMPILER", "none")
    with pytest.raises(NoCompilerError, match="SPART_COMPILER is none"):
        _ = switched.module
