"""Importers solve our FMUs in ways of their own, and all come to the closed forms."""

import importers
import numpy as np
import pytest
from fmus import EVENTFUL, STOPPING, instance, references

import spart_blocks as sb
from spart_blocks.export import export_fmu
from spart_blocks.program.subdiagram import subdiagram_of

POINTS = 41
"""Of each run, at equal distances, so that some of them are events."""

# x rests until t = 1, so that a solver's steps are long by then: x = 1 - exp(-(t - 1)).
RESTING = """
name: resting
blocks:
  u: {type: STEP, T: 1.0, on: 1.0}
  e: {type: SUM, signs: "+-"}
  x: {type: INTEGRATOR}
wires: [u -> e.0, x -> e.1, e -> x]
run: {T: 4, log: [x]}
"""

# x' = sin t + k h, where h is x at the last multiple of 0.5.
SAMPLED = """
name: sampled
clocks: {c: {T: 0.5}}
blocks:
  s: {type: TIME}
  wave: {type: FCN, expression: "sin(s)", arguments: [s]}
  hold: {type: ZOH, clock: c}
  k: {type: GAIN, K: -0.7}
  all: {type: SUM, signs: "++"}
  x: {type: INTEGRATOR, x0: 1.0}
wires: [s -> wave, x -> hold, hold -> k, wave -> all.0, k -> all.1, all -> x]
run: {T: 4, log: [x]}
"""

# x' = y, y = 1 or -0.5: a triangle wave between -0.2 and 0.3.
SWITCHED = """
name: switched
blocks:
  heater: {type: RELAY, on: 0.2, off: -0.3, on_value: 1, off_value: -0.5}
  x: {type: INTEGRATOR}
  cold: {type: GAIN, K: -1}
wires: [heater -> x, x -> cold, cold -> heater]
run: {T: 4, log: [x]}
"""

# |sin t| has a corner at every multiple of pi: x = 2 k + 1 - cos(t - k pi).
BENT = """
name: bent
blocks:
  s: {type: TIME}
  wave: {type: FCN, expression: "abs(sin(s))", arguments: [s]}
  x: {type: INTEGRATOR}
wires: [s -> wave, wave -> x]
run: {T: 10, log: [x]}
"""


def resting(t):
    return np.where(t > 1, 1 - np.exp(-np.maximum(t - 1, 0)), 0)


def sampled(t):
    x = [1.0]
    for k in range(8):
        x.append(x[-1] * (1 - 0.7 * 0.5) + np.cos(0.5 * k) - np.cos(0.5 * (k + 1)))
    k = np.minimum((t / 0.5 + 1e-9).astype(int), 8)
    return np.array(x)[k] * (1 - 0.7 * (t - 0.5 * k)) + np.cos(0.5 * k) - np.cos(t)


def switched(t):
    """From 0 it falls to -0.2, where the heater goes on, and rises to 0.3."""
    return np.interp(t, [0, 0.4, 0.9, 1.9, 2.4, 3.4, 3.9, 4.9], [0, *[-0.2, 0.3] * 3, -0.2])


def bent(t):
    k = np.floor(t / np.pi)
    return 2 * k + 1 - np.cos(t - k * np.pi)


def bouncing(t):
    """Dropped from 1 m under 10 m/s^2, it leaves the ground with half its speed: it is there
    at t1 = sqrt(0.2), and again after t1, t1 / 2, ..."""
    start, speed = np.sqrt(0.2), np.sqrt(20.0)
    y = 1 - 5 * t**2
    for _ in range(5):
        speed /= 2
        y = np.where(t > start, speed * (t - start) - 5 * (t - start) ** 2, y)
        start += speed / 5
    return y


def ball():
    def halved(event, states):
        (speed,) = (x for block, x in states.items() if block.name == "v")
        speed[:] = -0.5 * speed

    d = sb.new_diagram("bouncing")
    g, v = d.CONSTANT(-10.0, name="g"), d.INTEGRATOR(x0=0.0, name="v")
    y, ground = d.INTEGRATOR(x0=1.0, name="y"), d.EVENT("-", halved, name="ground")
    d.connect(g, v)
    d.connect(v, y)
    d.connect(y, ground)
    return d


CASES = {
    "resting": (RESTING, "x", 4.0, resting),
    "sampled": (SAMPLED, "x", 4.0, sampled),
    "switched": (SWITCHED, "x", 4.0, switched),
    "bent": (BENT, "x", 10.0, bent),
    "bouncing": (ball, "y", 1.2, bouncing),
}


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """exported(case, version) -> the path of its FMU."""
    folder = tmp_path_factory.mktemp("importers")

    def export(text, version):
        diagram = text
        if callable(text):
            diagram = text()
        else:
            diagram = folder / "diagram.yaml"
            diagram.write_text(text)
        return export_fmu(subdiagram_of(diagram), folder, version)

    return export


@pytest.mark.parametrize("way", importers.WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("version", [3, 2])
@pytest.mark.parametrize("case", CASES)
def test_every_way_of_solving_comes_to_the_closed_form(case, version, way, exported):
    text, signal, T, exact = CASES[case]
    times = np.linspace(0, T, POINTS)
    found = importers.run(way, exported(text, version), times, [signal])[:, 0]
    assert np.abs(found - exact(times)).max() < 1e-7


@pytest.mark.parametrize("way", importers.WAYS, ids=lambda way: way.__name__)
def test_points_at_ticks_but_for_rounding_are_no_trouble(way, exported):
    path = exported(SAMPLED.replace("T: 0.5", "T: 0.01"), 3)
    times = np.arange(101) * 0.01
    assert (times != np.arange(101) / 100).any()
    found = importers.run(way, path, times, ["x"])[:, 0]
    x, cosines = [1.0], np.cos(np.arange(101) / 100)
    for k in range(100):
        x.append(x[-1] * (1 - 0.7 * 0.01) + cosines[k] - cosines[k + 1])
    assert np.abs(found - x).max() < 1e-7


@pytest.mark.parametrize("way", importers.WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("version", [3, 2])
def test_limits_clips_and_clocks_come_to_our_own_run(version, way, exported):
    path = exported(EVENTFUL, version)
    times = np.linspace(0, 3, POINTS)
    found = importers.run(way, path, times, ["x", "clip"])
    part = subdiagram_of(path.with_name("diagram.yaml"))
    wanted = sb.simulate(part.program, T=3, every=times[1], log=["x", "clip"])
    order = [wanted["x"], wanted["clip"]]
    assert np.abs(found - np.stack(order, axis=1)).max() < 1e-8


@pytest.mark.parametrize("version", [3, 2])
def test_a_solver_is_told_to_begin_anew_where_something_has_happened(version, exported):
    path = exported(EVENTFUL, version)
    with instance(path, "ModelExchange") as fmu:
        model = importers.Model(fmu, importers.fmpy.read_model_description(str(path)), [])
        assert model.settle().reset  # the first ticks
        assert not model.event().reset  # nothing has
        change = model.event()
        assert change.next == pytest.approx(0.05, rel=1e-14)
        fmu.setTime(change.next)
        assert model.event().reset


@pytest.mark.parametrize("version", [3, 2])
def test_an_input_that_jumps_at_an_event_is_a_reason_to_begin_anew(version, exported, tmp_path):
    (tmp_path / "diagram.yaml").write_text(RESTING)
    part = subdiagram_of(tmp_path / "diagram.yaml", ["x"])
    path, (u,) = export_fmu(part, tmp_path, version), part.inputs
    with instance(path, "ModelExchange") as fmu:
        model = importers.Model(fmu, importers.fmpy.read_model_description(str(path)), [])
        model.settle()
        put = fmu.setFloat64 if version == 3 else fmu.setReal
        put([references(part)[u.name]], [0.25])  # a signal that moves is none
        assert not model.event().reset
        for value, told in ((0.25, False), (0.5, True)):
            fmu.enterEventMode()
            put([references(part)[u.name]], [value])
            assert model.settle().reset is told


@pytest.mark.parametrize("way", importers.WAYS, ids=lambda way: way.__name__)
def test_a_stop_ends_every_way_of_solving(way, exported):
    times = np.linspace(0, 2, 21)
    path = exported(STOPPING, 3)
    assert len(importers.run(way, path, times, ["x"])) == 15  # up to t = 1.4, of sqrt 2
