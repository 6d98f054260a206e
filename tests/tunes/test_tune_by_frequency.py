"""`tune: frequency:`: designs by margins and norms, whose best is known in closed form."""

import math

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.analysis.frequency import figures
from spart_blocks.diagram.sections import frequency_section

# L = k / (s (tau s + 1)), as a servo with a velocity that lags; its spring is soft at first.
SERVO = """
name: servo
params: {k: 0.2, tau: 1, hard: 0}
blocks:
  goal: {type: STEP, T: 0, on: 0}
  e: {type: SUM, signs: "+-"}
  u: {type: GAIN, K: $k}
  lag: {type: PT1, tau: $tau, gain: 1}
  bent: {type: FCN, expression: "v - h*x**3", arguments: [v, x], params: {h: $hard}}
  x: {type: INTEGRATOR}
  s: {type: SCOPE}
wires:
  - goal -> e.0
  - x -> e.1
  - e -> u
  - u -> lag
  - lag -> bent.v
  - x -> bent.x
  - bent -> x
  - x -> s
run: {T: 5}
"""


@pytest.fixture
def servo(tmp_path):
    def write(more="", text=SERVO):
        path = tmp_path / "servo.yaml"
        path.write_text(text + more, encoding="utf-8")
        return path

    return write


def test_the_fastest_loop_with_a_phase_margin_is_its_closed_form(servo):
    """Of 60 degrees: w tau = tan(30 deg), and k = w sqrt(1 + (w tau)^2)."""
    found = sb.tune(
        servo(),
        {"k": [0.01, 10]},
        frequency={"axis": {"loop": "u", "phase_margin_deg": 60, "crossover": {"maximize": 1}}},
    )
    w = math.tan(math.radians(30))
    assert found["k"] == pytest.approx(w * math.hypot(1, w), rel=1e-5)
    assert found.objective == pytest.approx(w, rel=1e-5)
    assert found.good
    assert "axis.phase_margin_deg" in str(found)


def test_the_peak_of_a_closed_loop_is_that_of_its_damping(servo):
    """T = k / (s^2 + s + k) has damping 1 / (2 sqrt(k)), and a peak 1 / (2 d sqrt(1 - d^2))."""
    found = sb.tune(
        servo(),
        {"k": [0.1, 10]},
        frequency={"track": {"from": "goal", "to": "x", "norm": 1.3, "bandwidth": {"maximize": 1}}},
    )
    d = 1 / (2 * math.sqrt(found["k"]))
    assert 1 / (2 * d * math.sqrt(1 - d**2)) == pytest.approx(1.3, rel=1e-5)


def test_all_points_and_cases_count(servo):
    """The lag is largest in one case; where x is large the spring makes the loop slower."""
    found = sb.tune(
        servo(),
        {"k": [0.01, 10]},
        over={"tau": [0.5, 1.0, 2.0]},
        points={"low": {"states": {"x": 0.1}}, "high": {"states": {"x": 1.0}}},
        frequency={"axis": {"loop": "u", "damping": 0.5, "crossover": {"maximize": 1}}},
    )
    assert found["k"] == pytest.approx(1 / (4 * 0.25 * 2.0), rel=1e-5)  # d = 1 / (2 sqrt(k tau))
    labels = [one.name for one in found.judged]
    assert labels == ["axis.damping (low)", "axis.damping (high)"]
    assert all("tau = 2" in one.case for one in found.judged)


def test_a_point_that_is_trimmed_moves_with_the_design(servo):
    """At rest with the load -g: k (1 - x) = h x^3, where the loop is k / ((s + 3 h x^2)(s + 1))."""
    text = SERVO.replace("on: 0}", "on: 1}")
    section = """
tune:
  parameters: {k: [0.1, 20]}
  points: {rest: {trim: {unknowns: [x, lag]}, t: 1}}
  frequency:
    axis: {loop: u, decay: {min: 0.9, max: 0.9}}
"""
    found = sb.tune(servo(section, text), overrides={"hard": 0.5})
    k = found["k"]
    x = min(np.roots([0.5, 0, k, -k]), key=lambda r: abs(r.imag)).real
    slow = 3 * 0.5 * x**2
    poles = np.roots([1, 1 + slow, slow + k])
    assert -poles.real.max() == pytest.approx(0.9, abs=1e-5)


def test_a_design_is_saved_and_reported_without_metrics_of_runs(servo, tmp_path):
    section = """
tune:
  parameters: {k: [0.01, 10]}
  frequency:
    axis: {loop: u, gain_margin_db: 6, disk_margin: {min: 0.7}, crossover: {maximize: 1}}
"""
    found = sb.tune(servo(section))
    assert found.save(tmp_path / "k.json").exists()
    assert found.report(tmp_path / "k.html").exists()
    margins = sb.margins(sb.load(servo(section), overrides=found.overrides), "u")
    assert margins["disk_margin"] == pytest.approx(0.7, abs=1e-4)
    assert math.isinf(margins["gain_margin_db"])


@pytest.mark.parametrize(
    ("frequency", "text"),
    [
        ("{a: {loop: q, disk_margin: 1}}", r"frequency: a: .*no signal or block input 'q'"),
        ("{a: {loop: u, norm: 1}}", "norm is no figure of a loop"),
        ("{a: {from: goal, to: x, disk_margin: 1}}", "disk_margin is no figure of a system"),
        ("{a: {loop: u}}", "asks nothing: name a figure"),
        ("{a: {from: goal, norm: 1}}", "has both from: and to:"),
        ("{a: {loop: u, disk_margin: {min: 2, max: 1}}}", "min, 2.0, is above max"),
        ("{a: {loop: u, disk_margin: 1, points: far}}", "no point 'far', only start"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(servo, frequency, text):
    path = servo(f"tune: {{parameters: {{k: [0.1, 1]}}, frequency: {frequency}}}\n")
    with pytest.raises(sb.InputError, match=text) as raised:
        sb.tune(path)
    assert "servo.yaml:2" in str(raised.value)


def test_a_loop_that_no_design_makes_stable_is_told(servo):
    """With the sign of the feedback turned."""
    text = SERVO.replace('signs: "+-"', 'signs: "++"')
    with pytest.raises(sb.RunError, match="closed loop is not stable"):
        sb.tune(servo(text=text), {"k": [0.1, 1]}, frequency={"a": {"loop": "u", "disk_margin": 1}})


def test_the_section_has_the_figures_of_the_analysis():
    assert tuple(figures.OF_LOOPS) == frequency_section.OF_LOOPS
    assert tuple(figures.OF_TRANSFERS) == frequency_section.OF_TRANSFERS
    fields = frequency_section.FrequencySection.model_fields
    for name, figure in {**figures.OF_LOOPS, **figures.OF_TRANSFERS}.items():
        number = frequency_section.FrequencySection.model_validate(
            {**({"loop": "u"} if name in figures.OF_LOOPS else {"from": "u", "to": "x"}), name: 0.5}
        )
        assert getattr(getattr(number, name), figure.wanted) == 0.5
        assert name in fields
