"""Exported C in which crossings act within its steps: EVENTs, jumps, sliding modes."""

from __future__ import annotations

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import DiagramError
from spart_blocks.diagram import as_diagram
from spart_blocks.export import recorded_inputs, step_code, verify
from spart_blocks.export.header import FAULT, OK, STOPPED
from spart_blocks.export.loaded import LoadedStep
from spart_blocks.program.subdiagram import subdiagram_of

FALL = np.sqrt(0.2)
"""From 1 m at 10 m/s^2 [s]."""
BALL = """{type: HYBRID_SYSTEM, states: [y, v], x0: [1, 0], f: [v, -10*g], arguments: [g],
    jumps: [{when: y < 0, set: {v: -r*v}}], params: {r: 0.5}}"""

# A ball whose weight is held from ticks, which sample its height; a RELAY and a limit.
TICKING = f"""
clocks: {{c: {{T: 0.1}}}}
blocks:
  b: {BALL}
  wave: {{type: WAVEFORM, wave: square, freq: 0.7, min: 1, max: 1.5}}
  hold: {{type: ZOH, clock: c}}
  seen: {{type: ZOH, clock: c}}
  relay: {{type: RELAY, on: 0.6, off: 0.4, on_value: 1, off_value: 0}}
  sum: {{type: INTEGRATOR, max: 0.3}}
wires: [wave -> hold, hold -> b.g, "b.y -> seen, relay", relay -> sum]
run: {{T: 1, log: [b.y, seen, relay, sum]}}
"""
# Its subsystem starts anew when it is enabled; an integrator in it is limited.
ENABLED = f"""
subsystems:
  part:
    inputs: [on, g]
    outputs: [y, i]
    enabled: {{by: on, states: reset}}
    blocks: {{b: {BALL}, i: {{type: INTEGRATOR, max: 0.123}}}}
    wires: [in.g -> b.g, in.g -> i, b.y -> out.y, i -> out.i]
blocks:
  clock: {{type: TIME}}
  one: {{type: CONSTANT, value: 1}}
  on: {{type: FCN, expression: "abs(u - 0.8) > 0.131"}}
  part: {{type: part}}
  end: {{type: SCOPE, nin: 2}}
wires: [clock -> on, on -> part.on, one -> part.g, part.y -> end.0, part.i -> end.1]
run: {{T: 2}}
"""
# Edges of a sine reset one state to another, and time alone makes a third jump.
EDGES = """
blocks:
  one: {type: CONSTANT, value: 1}
  sine: {type: WAVEFORM, wave: sine, freq: 1.3}
  ramp: {type: RESET_INTEGRATOR, edge: rising}
  half: {type: GAIN, K: 0.5}
  time: {type: TIME}
  n: {type: HYBRID_SYSTEM, states: [n], arguments: [u], f: [0*u],
    jumps: [{when: u > 0.537, set: {n: n + 1}}]}
wires: [one -> ramp.u, sine -> ramp.trigger, half -> ramp.value, ramp -> half, time -> n.u]
run: {T: 2, log: [ramp, n.n]}
"""
SLIDES = {
    "one": """
blocks:
  f: {type: FCN, expression: "-sign(x) + t/2", arguments: [x]}
  x: {type: INTEGRATOR, x0: 0.25}
wires: [f -> x, x -> f.x]
run: {T: 4, sliding: filippov, log: [x]}
""",
    "relay": """
blocks:
  t: {type: TIME}
  r: {type: RELAY, on: 0, off: 0, on_value: -1, off_value: 1, initial: auto}
  f: {type: FCN, expression: "a + s/2", arguments: [a, s]}
  x: {type: INTEGRATOR, x0: 0.25}
wires: [f -> x, x -> r, r -> f.a, t -> f.s]
run: {T: 4, sliding: filippov, log: [x]}
""",
}
# Within one step of 1/64 s q lands on its surface, while x moves on.
LANDS = """
blocks:
  d: {type: WAVEFORM, wave: sine, freq: 1.1, min: -2.5, max: 2.5}
  f: {type: FCN, expression: "d - 2*sign(x)", arguments: [x, d]}
  x: {type: INTEGRATOR, x0: 0.25}
  g: {type: FCN, expression: "q - d - 2*sign(q + 0.1)", arguments: [q, d]}
  q: {type: INTEGRATOR, x0: -0.25}
wires: ["d -> f.d, g.d", x -> f.x, f -> x, q -> g.q, g -> q]
run: {T: 1, sliding: filippov, log: [x, q]}
"""
SLOW = """
blocks:
  x: {type: HYBRID_SYSTEM, states: [x], f: ["1"],
    jumps: [{when: x > 0.0105, set: {x: 0.0105 - 1.0e-7}}]}
  end: {type: SCOPE}
wires: [x.x -> end]
run: {T: 1}
"""


def part_of(text, folder, **run):
    (folder / "d.yaml").write_text(text)
    diagram = as_diagram(sb.load(folder / "d.yaml"))
    return diagram, subdiagram_of(diagram.with_sections(run=diagram.run.model_copy(update=run)))


def bouncing(r, t):
    """The height of a ball that keeps this part r of its speed, at last at rest."""
    y, start, speed = np.where(t < FALL, 1 - 5 * t**2, 0.0), FALL, 10 * FALL
    for _ in range(60):
        speed *= r
        s = t - start
        y = np.where((s >= 0) & (s < speed / 5), speed * s - 5 * s**2, y)
        start += speed / 5
    return y


def stepped(code, steps):
    """The states of x before each step, the last status, and the compiled step."""
    run, rows, status = LoadedStep(code), [], OK
    for _ in range(steps):
        status, _ = run.output()
        rows.append(run.states())
        status = status or run.update()
        if status:
            break
    return np.array(rows), status, run


@pytest.mark.parametrize(
    ("text", "T", "how"),
    [
        (TICKING, 1.0, {"rate": 100}),
        (TICKING, 1.0, {"rate": 50, "method": "euler", "real": "float"}),
        (ENABLED, 2.0, {"rate": 100, "method": "heun"}),
        (EDGES, 1.0, {"rate": 100}),
        (SLIDES["relay"], 3.0, {"rate": 50}),
        (LANDS, 1.0, {"rate": 64, "method": "heun"}),
    ],
    ids=["ticks", "float", "enabled", "edges", "sliding", "landing"],
)
def test_c_agrees_with_a_run_about_what_happens_within_its_steps(text, T, how, tmp_path):
    diagram, part = part_of(text, tmp_path)
    code = step_code(part, **how)
    found = verify(code, recorded_inputs(diagram, code, T))
    assert found.passed
    assert found.worst < (1e-6 if "real" in how else 1e-11)
    assert found.steps == round(T * how["rate"])


def test_a_ball_of_c_bounces_and_comes_to_rest_as_in_closed_form(tmp_path):
    """Its bounces accumulate at 1.3416 s, within one step."""
    text = f"blocks: {{b: {BALL}, g: {{type: CONSTANT, value: 1}}, end: {{type: SCOPE}}}}"
    text += "\nwires: [g -> b.g, b.y -> end]"
    _, part = part_of(text, tmp_path, sliding="filippov")
    x, status, _ = stepped(step_code(part, rate=50), 100)
    assert status == OK
    np.testing.assert_allclose(x[:, 0], bouncing(0.5, np.arange(100) / 50), atol=2e-9)
    assert (x[70:] == x[70]).all()
    assert abs(x[70]).max() < 1e-12


def test_c_slides_along_a_surface_and_leaves_it_as_in_closed_form(tmp_path):
    """x = 0.25 - t + t^2 / 4 down to zero, and from t = 2 on its rate is t / 2 - 1."""
    _, part = part_of(SLIDES["one"], tmp_path)
    x, _, _ = stepped(step_code(part, rate=50), 200)
    t = np.arange(200) / 50
    wanted = np.where(t < 1, np.maximum(0.25 - t + t**2 / 4, 0), np.maximum(t - 2, 0) ** 2 / 4)
    np.testing.assert_allclose(x[:, 0], wanted, atol=1e-9)


def test_an_event_written_in_python_acts_in_c():
    d = sb.new_diagram("ball")
    v, y = d.INTEGRATOR(x0=0.0, name="v"), d.INTEGRATOR(x0=1.0, name="y")

    def bounce(event, states):
        states["v"] *= -0.5

    d.connect(d.CONSTANT(-10.0, name="g"), v)
    d.connect(v, y)
    d.connect(y, d.EVENT("-", bounce, name="ground"))
    x, _, _ = stepped(step_code(subdiagram_of(d), rate=100), 120)
    place = [slot.name for slot in subdiagram_of(d).program.states].index("y")
    np.testing.assert_allclose(x[:, place], bouncing(0.5, np.arange(120) / 100), atol=2e-9)


def test_resets_that_accumulate_are_a_fault_that_names_the_block(tmp_path):
    """The state stays that of the start of the step, and a further call returns the fault again."""
    text = f"blocks: {{b: {BALL}, g: {{type: CONSTANT, value: 1}}, end: {{type: SCOPE}}}}"
    _, part = part_of(text + "\nwires: [g -> b.g, b.y -> end]", tmp_path)
    x, status, run = stepped(step_code(part, rate=100), 200)
    assert status == FAULT
    assert run.fault.startswith("block b: its resets accumulate (Zeno)")
    assert len(x) == 1 + int(100 * FALL * 3)
    before = run.states()
    assert run.update() == FAULT
    assert (run.states() == before).all()


def test_more_crossings_than_one_step_may_have_are_a_fault(tmp_path):
    """At each of them 0.1 us is gained: 10,000 in a step of 1 ms."""
    _, part = part_of(SLOW, tmp_path)
    x, status, run = stepped(step_code(part, rate=1000), 20)
    assert (len(x), status) == (11, FAULT)
    assert "block x: it crosses zero or switches without end" in run.fault
    assert "more than 1000 times in one step" in run.fault


def test_a_stop_within_a_step_ends_it_in_the_state_before(tmp_path):
    text = f"""
blocks:
  b: {BALL}
  g: {{type: CONSTANT, value: 1}}
  low: {{type: FCN, expression: "0.1 - u"}}
  stop: {{type: STOP}}
wires: [g -> b.g, b.y -> low, low -> stop]
"""
    _, part = part_of(text, tmp_path)
    x, status, run = stepped(step_code(part, rate=100), 200)
    assert status == STOPPED
    assert len(x) == 1 + int(100 * np.sqrt(0.18))
    assert (run.states() == x[-1]).all()


def test_states_are_in_double_precision_where_crossings_act(tmp_path):
    _, part = part_of(TICKING, tmp_path)
    header = step_code(part, real="float").header
    assert "float seen;" in header
    assert "double x[" in header


def test_an_event_whose_function_cannot_be_traced_is_refused_by_its_name():
    d = sb.new_diagram("ball")
    y = d.INTEGRATOR(x0=1.0, name="y")

    def bounce(event, states):
        if states["y"] < 0:
            states["y"] = 1.0

    d.connect(d.CONSTANT(-1.0, name="g"), y)
    d.connect(y, d.EVENT("-", bounce, name="ground"))
    with pytest.raises(DiagramError, match=r"block ground \(EVENT\) cannot become code"):
        step_code(subdiagram_of(d))
