"""`sb.margins`: margins of a diagram's loop, and their derivatives by its parameters."""

import math

import numpy as np
import pytest

import spart_blocks as sb

SERVO = """
name: servo
params: {kp: 20, kd: 2.5, hard: 0.4}
blocks:
  r: {type: STEP, T: 0, on: 0.5}
  e: {type: SUM, signs: "+-"}
  p: {type: GAIN, K: $kp}
  d: {type: GAIN, K: $kd}
  u: {type: SUM, signs: "+-"}
  motor:
    {type: FCN, expression: "u - 3*v - k*q**3", arguments: [u, v, q], params: {k: $hard}}
  lag: {type: PT1, tau: 0.05, gain: 1}
  v: {type: INTEGRATOR}
  q: {type: INTEGRATOR, x0: 0.5}
  s: {type: SCOPE}
wires:
  - r -> e.0
  - q -> e.1
  - e -> p
  - p -> u.0
  - v -> d
  - d -> u.1
  - u -> lag
  - lag -> motor.u
  - v -> motor.v
  - q -> motor.q
  - motor -> v
  - v -> q
  - q -> s
run: {T: 3}
"""
SAMPLED = SERVO.replace("u -> lag\n", "u -> held\n  - held -> lag\n").replace(
    "blocks:", "clocks: {c: {rate: 50}}\nblocks:\n  held: {type: UNIT_DELAY, clock: c}"
)
BY = {"kp": 20.0, "kd": 2.5, "hard": 0.4, "lag.tau": 0.05, "q.x0": 0.5}


@pytest.fixture
def loaded(tmp_path):
    def load(text, **values):
        path = tmp_path / "servo.yaml"
        path.write_text(text, encoding="utf-8")
        where = {name: f"{'blocks' if '.' in name else 'params'}.{name}" for name in values}
        return sb.load(path, overrides=[f"{where[n]}={v!r}" for n, v in values.items()])

    return load


@pytest.mark.parametrize("text", [SERVO, SAMPLED], ids=["continuous", "sampled"])
@pytest.mark.parametrize("name", BY)
def test_derivatives_are_those_of_extrapolated_differences(loaded, text, name):
    """The initial state moves the point, where the spring is harder."""
    found = sb.margins(loaded(text), "lag", by=name)

    def at(step):
        return sb.margins(loaded(text, **{name: BY[name] + step}), "lag")

    size = 2e-3 * BY[name]
    wide, near = ((at(h), at(-h)) for h in (size, size / 2))
    for figure, value in found.values.items():
        if math.isinf(value):
            continue
        first = (wide[0][figure] - wide[1][figure]) / (2 * size)
        second = (near[0][figure] - near[1][figure]) / size
        best = (4 * second - first) / 3
        slack = 1e-6 * max(abs(best), 1e-2 * abs(value / BY[name]))
        assert found.derivatives[figure][name].item() == pytest.approx(best, abs=slack), figure


def test_margins_of_a_spacecraft_are_those_of_python_control():
    """Of the first joint, with the loops of the others closed; its base floats freely."""
    control = pytest.importorskip("control")
    file = "diagrams/spacecraft_pd.yaml"
    loop = sb.linearize(file, inputs="ctrl.tau[1]", outputs="ctrl.tau[1]", open_at="ctrl.tau[1]",
                        at=sb.trim(file, unknowns="plant.qm"))  # fmt: skip
    with np.errstate(all="ignore"):
        _, phase, _, w = control.margin(-loop.to_control())
    found = sb.margins(file, "ctrl.tau[1]", at=sb.trim(file, unknowns="plant.qm"))
    assert found["phase_margin_deg"] == pytest.approx(phase, rel=1e-8)
    assert found["crossover"] == pytest.approx(w, rel=1e-8)
    assert "phase_margin_deg" in str(found)
    assert "deg" in str(found)


def test_a_loop_is_cut_at_an_input_of_a_block_or_at_the_signal_that_feeds_it(loaded):
    at_signal = sb.margins(loaded(SERVO), "lag", by="kp")
    at_input = sb.margins(loaded(SERVO), "motor.u", by="kp")
    for figure, value in at_signal.values.items():
        assert at_input[figure] == pytest.approx(value, rel=1e-9), figure


def test_a_loop_cut_at_several_signals_has_the_margins_of_all_together():
    both = sb.margins("diagrams/spacecraft_pd.yaml", "ctrl.tau", by="kp")
    assert "phase_margin_deg" not in both.values
    alone = [sb.margins("diagrams/spacecraft_pd.yaml", f"ctrl.tau[{k}]") for k in range(3)]
    assert both["disk_margin"] < min(one["disk_margin"] for one in alone)
    assert both.derivatives["disk_margin"]["kp"].shape == (3,)


def test_an_equilibrium_moves_with_a_parameter(loaded):
    """At k q^3 = kp (r - q) the spring's stiffness 3 k q^2 moves with k, for two reasons."""
    from spart_blocks.analysis.linearization import Linearization
    from spart_blocks.analysis.point import moves_of, operating_point
    from spart_blocks.analysis.trim import Equilibrium

    diagram = loaded(SERVO)
    linear = Linearization(diagram, "u", "q", "u")
    rest = Equilibrium(diagram, ["q", "v", "lag"])
    engine = linear.engine
    start = operating_point(engine, None, 0.0)
    move = np.zeros((len(engine.program.p), 1))
    move[engine.program.parameter_places("hard")[0].ravel()] = 1.0
    solution, _ = rest.solved(start)
    point, moves = rest.settled(solution, rest.moved(solution, moves_of(engine, None, start, move)))
    states = linear.at(point).states
    q = point.x[list(states).index("q")]
    assert 0.4 * q**3 == pytest.approx(20 * (0.5 - q))
    dq = -(q**3) / (20 + 3 * 0.4 * q**2)
    row, column = states.index("v"), states.index("q")
    assert linear.at(point).A[row, column] == pytest.approx(-3 * 0.4 * q**2)
    found = linear.changes(point, moves).dA[0, row, column]
    assert found == pytest.approx(-3 * q**2 - 6 * 0.4 * q * dq, rel=1e-9)


def test_what_a_clock_holds_at_the_point_is_what_it_holds_after_its_tick(loaded):
    """u = k e is held from the first tick on, where a cubic has the slope 1 + 3 u^2 in u."""
    text = """
name: held
params: {k: 0.5}
clocks: {c: {rate: 1000}}
blocks:
  goal: {type: CONSTANT, value: 0}
  e: {type: SUM, signs: "+-"}
  held: {type: ZOH, clock: c}
  p: {type: GAIN, K: $k}
  bent: {type: FCN, expression: "u + u**3"}
  x: {type: INTEGRATOR, x0: 0.8}
wires: [goal -> e.0, x -> e.1, e -> held, held -> p, p -> bent, bent -> x]
run: {T: 1}
"""
    k, x = 0.5, 0.8
    found = sb.margins(loaded(text), "p", by="x.x0")
    assert found["crossover"] == pytest.approx(k * (1 + 3 * (k * x) ** 2), rel=1e-6)
    slope = found.derivatives["crossover"]["x.x0"].item()
    assert slope == pytest.approx(6 * k**3 * x, rel=1e-5)


def test_what_it_cannot_give_is_told(loaded):
    with pytest.raises(sb.InputError, match="no signal or block input 'w'"):
        sb.margins(loaded(SERVO), "w")
    with pytest.raises(sb.InputError, match="there is no parameter 'ki'"):
        sb.margins(loaded(SERVO), "lag", by="ki")
    with pytest.raises(sb.RunError, match=r"(?s)its pole .* the feedback is negative"):
        sb.margins(loaded(SERVO, kp=-20.0), "lag")
