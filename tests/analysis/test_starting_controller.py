"""Starting controllers give the loop its crossover and phase margin."""

import math

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.analysis.system import LinearSystem


def plant(num, den, dt=0.0):
    """A plant by its coefficients, highest power first, in companion form."""
    n = len(den) - 1
    A = np.eye(n, k=1)
    A[-1] = -np.array(den[:0:-1]) / den[0]
    B, C = np.eye(n)[:, -1:], np.zeros((1, n))
    C[0, : len(num)] = np.array(num[::-1]) / den[0]
    names = tuple(f"x[{k}]" for k in range(n))
    return LinearSystem(A, B, C, np.zeros((1, 1)), dt, names, ("u",), ("y",), np.zeros(n),
                        np.zeros(1), np.zeros(1), np.zeros(n))  # fmt: skip


def value(found, s, N=math.inf):
    if "gain" in found:
        return found["gain"] * (found["lead"] * s + 1) / (found["lag"] * s + 1)
    N = found.get("N", N)
    d = s if math.isinf(N) else N * s / (s + N)
    return found["P"] + found.get("I", 0) / s + found.get("D", 0) * d


@pytest.mark.parametrize(
    ("kind", "num", "den", "w", "margin", "N"),
    [
        ("pi", [2.0], [1, 1], 3.0, 75, math.inf),
        ("pd", [1.0], [1, 0.2, 0], 5.0, 55, math.inf),
        ("pd", [1.0], [1, 0.2, 0], 5.0, 55, 80.0),
        ("pid", [1.0], [1, 0.2, 0], 5.0, 55, 100.0),
        ("pid", [3.0], [1, 2.5, 2, 0.5], 0.9, 60, math.inf),
        ("lead_lag", [1.0], [1, 0.1, 0], 4.0, 50, math.inf),
        ("lead_lag", [8.0], [1, 3, 2], 1.2, 60, math.inf),
    ],
)
def test_a_loop_has_the_wanted_crossover_and_margin(kind, num, den, w, margin, N):
    given = plant(num, den)
    found = sb.starting_controller(given, kind, crossover=w, phase_margin_deg=margin, N=N)
    L = value(found, 1j * w) * given.frequency_response([w])[0, 0, 0]
    assert abs(L) == pytest.approx(1)
    assert math.degrees(np.angle(-L)) == pytest.approx(margin)
    assert all(number >= 0 for number in found.values())


def test_a_diagram_with_it_has_this_margin(tmp_path):
    text = """
name: motor
params: {P: 1, I: 0, D: 0}
blocks:
  goal: {type: STEP, T: 1}
  ctrl: {type: PID_2DOF, P: $P, I: $I, D: $D, N: 60}
  lag: {type: PT1, tau: 0.3, gain: 2}
  speed: {type: PT1, tau: 1.5, gain: 1}
  scope: {type: SCOPE}
wires: [goal -> ctrl.r, speed -> ctrl.y, ctrl -> lag, lag -> speed, speed -> scope]
run: {T: 5}
"""
    path = tmp_path / "motor.yaml"
    path.write_text(text, encoding="utf-8")
    open_loop = sb.linearize(path, inputs="ctrl", outputs="speed", open_at="ctrl")
    found = sb.starting_controller(open_loop, "pid", crossover=3, phase_margin_deg=65, N=60)
    gains = {name: found[name] for name in "PID"}
    margins = sb.margins(sb.load(path, overrides=gains), "ctrl")
    assert margins["crossover"] == pytest.approx(3)
    assert margins["phase_margin_deg"] == pytest.approx(65)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"kind": "pi", "phase_margin_deg": 80}, "no pi turns the phase by .* a pd by 0 to 90"),
        ({"kind": "pidd"}, "there is no controller 'pidd'"),
        ({"crossover": 0}, "crossover is above 0"),
        ({"plant": plant([1.0, 0.5], [1, 0.3, 0.0], 0.1), "crossover": 40}, "Nyquist"),
    ],
)
def test_what_it_cannot_do_it_says(change, text):
    asked = {"plant": plant([1.0], [1, 0.2, 0]), "kind": "pd", "crossover": 2.0, **change}
    with pytest.raises(sb.InputError, match=f"(?s){text}"):
        sb.starting_controller(asked.pop("plant"), asked.pop("kind"), **asked)
