"""Linear systems and filters: responses in time and over frequencies, against closed forms and
SciPy.
"""

from __future__ import annotations

import json

import bdsim
import numpy as np
import pytest
from dynamic_blocks import check_c, check_engines, check_fmu, is_sampled, made, matrices, response
from scipy import signal

import spart_blocks as sb
from spart_blocks.base.errors import InputError

T = 0.05
CLOCK = bdsim.Clock(T)
TURN = 2 * np.pi

# In pairs, the sampled twin with each method: type, parameters, widths of the inputs.
SECOND = {"A": [[0.0, 1.0], [-4.0, -0.8]], "B": [0.0, 4.0], "C": [1.0, 0.0]}
WIDE = {
    "A": [[-1.0, 0.3], [0.2, -2.0]],
    "B": [[1.0, 0.0, 0.5], [0.0, 2.0, 1.0]],
    "C": [[1.0, 1.0], [0.0, 1.0]],
    "D": [[0.0, 0.1, 0.0], [0.2, 0.0, 0.0]],
    "x0": [0.3, -0.2],
}
RATIO = {"num": [1.0, 3.0], "den": [2.0, 1.0, 5.0]}
BIPROPER = {"num": [1.0, 0.5, 3.0], "den": [1.0, 2.0, 5.0], "u0": [0.2, 0.3]}
ROOTS = {"zeros": [-2.0], "poles": ["-1+3j", "-1-3j", -0.5], "gain": 4.0, "u0": 0.3}
Z = {"method": "none"}
CASES = [
    ("STATE_SPACE", SECOND, [None]),
    ("STATE_SPACE", WIDE, [3]),
    *[("STATE_SPACE_S", {**SECOND, "method": m}, [None]) for m in ("zoh", "tustin")],
    *[("STATE_SPACE_S", {**WIDE, "method": m}, [3]) for m in ("zoh", "tustin")],
    ("STATE_SPACE_S", {**WIDE, "A": [[0.5, 0.1], [0.0, 0.9]], **Z}, [3]),
    ("TRANSFER_FUNCTION", RATIO, [None]),
    ("TRANSFER_FUNCTION", BIPROPER, [2]),
    *[("TRANSFER_FUNCTION_S", {**BIPROPER, "method": m}, [2]) for m in ("zoh", "tustin")],
    ("TRANSFER_FUNCTION_S", {"num": [0.2, 0.1], "den": [1.0, -0.7], **Z, "width": 2}, [2]),
    ("TRANSFER_FUNCTION_S", {"num": 0.3, "den": [1.0, -0.7], **Z, "u0": 1.0}, [None]),
    ("ZERO_POLE", ROOTS, [None]),
    ("ZERO_POLE", {"zeros": [-2.0, -1.0], "poles": [-3.0, -4.0], "gain": [1.0, 2.0]}, [2]),
    *[("ZERO_POLE_S", {**ROOTS, "method": m, "width": 2}, [2]) for m in ("zoh", "tustin")],
    ("ZERO_POLE_S", {"zeros": [], "poles": ["0.5+0.5j", "0.5-0.5j"], "gain": 0.1, **Z}, [None]),
    ("PT1", {"gain": 2.0, "tau": [0.1, 0.5], "u0": 0.3}, [2]),
    *[("PT1_S", {"gain": 2.0, "tau": 0.3, "method": m}, [None]) for m in ("zoh", "tustin")],
    ("PT2", {"gain": 2.0, "omega": [3.0, 5.0], "damping": 0.4, "u0": 0.3}, [2]),
    *[
        ("PT2_S", {"gain": [2.0, 1.0], "omega": 3.0, "damping": [0.4, 1.0], "method": m}, [2])
        for m in ("zoh", "tustin")
    ],
    ("LEAD_LAG", {"lead": 0.5, "lag": [0.1, 0.2], "gain": 2.0, "u0": 0.1}, [2]),
    *[("LEAD_LAG_S", {"lead": 0.5, "lag": 0.1, "method": m}, [None]) for m in ("zoh", "tustin")],
    ("NOTCH", {"frequency": [0.4, 1.0], "bandwidth": 0.2, "depth": 0.1, "u0": 0.2}, [2]),
    ("NOTCH_S", {"frequency": [0.4, 1.0], "bandwidth": 0.2, "depth": 0.1, "u0": 0.2}, [2]),
    ("LOW_PASS", {"cutoff": [0.5, 1.0], "order": 5, "u0": 0.5}, [2]),
    ("LOW_PASS", {"cutoff": 0.5, "order": 1}, [None]),
    ("LOW_PASS_S", {"cutoff": 0.8, "order": 4, "u0": [0.5, 1.0]}, [2]),
    ("LOW_PASS_S", {"cutoff": 0.8, "order": 1}, [None]),
    ("LOW_PASS", {"cutoff": [0.5, 1.0], "order": 4, "design": "critical"}, [2]),
    ("LOW_PASS", {"cutoff": 0.8, "order": 5, "design": "bessel", "u0": [0.5, 1.0]}, [2]),
    ("LOW_PASS", {"cutoff": 0.8, "order": 4, "design": "chebyshev1", "u0": 0.5}, [None]),
    ("LOW_PASS", {"cutoff": 0.8, "order": 4, "design": "chebyshev2", "u0": 0.5}, [None]),
    ("LOW_PASS_S", {"cutoff": 0.8, "order": 5, "design": "bessel", "norm": "delay"}, [None]),
    ("LOW_PASS_S", {"cutoff": 0.8, "order": 3, "design": "chebyshev1", "u0": [0.5, 1.0]}, [2]),
    ("LOW_PASS_S", {"cutoff": 0.8, "order": 4, "design": "chebyshev2", "width": 2}, [2]),
]


def test_both_engines_run_alike(tmp_path):
    check_engines(CASES, tmp_path)


@pytest.mark.parametrize("real", ["double", "float"])
def test_the_c_agrees_back_to_back(real, tmp_path):
    check_c(CASES, tmp_path, real)


def test_the_fmu_agrees(tmp_path):
    check_fmu(CASES, tmp_path)


# --- frequency responses -------------------------------------------------------------------

F = np.array([0.01, 0.2, 0.5, 1.0, 1.3, 4.0])  # Hz
S = 1j * TURN * F
NUM, DEN = RATIO["num"], RATIO["den"]
LAWS = {  # of s
    "STATE_SPACE": (SECOND, 4 / (S**2 + 0.8 * S + 4)),
    "TRANSFER_FUNCTION": (RATIO, signal.freqs(NUM, DEN, TURN * F)[1]),
    "ZERO_POLE": ({k: v for k, v in ROOTS.items() if k != "u0"},
                  signal.freqs_zpk([-2.0], [-1 + 3j, -1 - 3j, -0.5], 4.0, TURN * F)[1]),
    "PT1": ({"gain": 2.0, "tau": 0.3}, 2 / (1 + 0.3 * S)),
    "PT2": ({"gain": 2.0, "omega": 3.0, "damping": 0.4}, 18 / (S**2 + 2.4 * S + 9)),
    "LEAD_LAG": ({"lead": 0.5, "lag": 0.1, "gain": 3.0}, 3 * (1 + 0.5 * S) / (1 + 0.1 * S)),
    "NOTCH": ({"frequency": 1.0, "bandwidth": 0.2, "depth": 0.1}, signal.freqs(
        [1, 0.1 * TURN * 0.2, TURN**2], [1, TURN * 0.2, TURN**2], TURN * F)[1]),
    "LOW_PASS": ({"cutoff": 1.3, "order": 7},
                 signal.freqs(*signal.butter(7, TURN * 1.3, analog=True), TURN * F)[1]),
}  # fmt: skip


@pytest.mark.parametrize("kind", LAWS)
def test_the_frequency_response_is_that_of_scipy(kind):
    given, want = LAWS[kind]
    np.testing.assert_allclose(response(made(kind, None, **given), S), want, rtol=1e-9)


@pytest.mark.parametrize("method", ["zoh", "tustin"])
@pytest.mark.parametrize("kind", [kind for kind in LAWS if kind not in ("NOTCH", "LOW_PASS")])
def test_the_sampled_twin_has_the_response_of_the_discretised_system(kind, method):
    given, _ = LAWS[kind]
    found = made(kind, None, **given)
    A, B, C, D = matrices(found)
    z = np.exp(S * T)
    twin = made(f"{kind}_S", CLOCK, **given, method=method)
    if method == "tustin":  # s = 2 / T (z - 1) / (z + 1)
        want = response(found, 2 / T * (z - 1) / (z + 1))
    else:
        Ad, Bd, Cd, Dd, _ = signal.cont2discrete((A, B[:, None], C[None], np.array([[D]])), T)
        want = [(Cd @ np.linalg.solve(p * np.eye(len(A)) - Ad, Bd) + Dd)[0, 0] for p in z]
    np.testing.assert_allclose(response(twin, z), want, rtol=1e-9)


def test_a_sampled_low_pass_and_a_sampled_notch_are_those_of_scipy():
    z, at = np.exp(S * T), {"worN": F, "fs": 1 / T}
    low = made("LOW_PASS_S", CLOCK, cutoff=2.0, order=7)
    want = signal.freqz_sos(signal.butter(7, 2.0, fs=1 / T, output="sos"), **at)[1]
    np.testing.assert_allclose(response(low, z), want, rtol=1e-9)
    notch = made("NOTCH_S", CLOCK, frequency=1.1, bandwidth=0.3)
    want = signal.freqz(*signal.iirnotch(1.1, 1.1 / 0.3, fs=1 / T), **at)[1]
    np.testing.assert_allclose(response(notch, z), want, rtol=1e-9)
    shallow = made("NOTCH_S", CLOCK, frequency=1.1, bandwidth=0.3, depth=0.2)
    (dip,) = response(shallow, [np.exp(1.1j * TURN * T)])
    assert abs(dip) == pytest.approx(0.2, rel=1e-9)


DESIGNS = [  # parameters, SciPy's function and its arguments
    ({"design": "bessel"}, signal.bessel, {"norm": "mag"}),
    ({"design": "bessel", "norm": "delay"}, signal.bessel, {"norm": "delay"}),
    ({"design": "bessel", "norm": "phase"}, signal.bessel, {"norm": "phase"}),
    ({"design": "chebyshev1"}, signal.cheby1, {"rp": 0.5}),
    ({"design": "chebyshev1", "ripple": 2.0}, signal.cheby1, {"rp": 2.0}),
    ({"design": "chebyshev2"}, signal.cheby2, {"rs": 40.0}),
    ({"design": "chebyshev2", "attenuation": 30.0}, signal.cheby2, {"rs": 30.0}),
]


@pytest.mark.parametrize("order", [1, 2, 5, 8, 20])
@pytest.mark.parametrize(("given", "design", "also"), DESIGNS)
def test_low_pass_filters_of_other_designs_are_those_of_scipy(given, design, also, order):
    f = np.array([0.01, 0.4, 1.0, 1.3, 2.0, 4.0])
    found = response(made("LOW_PASS", None, cutoff=1.3, order=order, **given), 1j * TURN * f)
    roots = design(order, Wn=TURN * 1.3, analog=True, output="zpk", **also)
    np.testing.assert_allclose(found, signal.freqs_zpk(*roots, TURN * f)[1], rtol=1e-9, atol=1e-12)
    twin = made("LOW_PASS_S", CLOCK, cutoff=1.3, order=order, **given)
    sections = design(order, Wn=1.3, fs=1 / T, output="sos", **also)
    want = signal.freqz_sos(sections, worN=f, fs=1 / T)[1]
    np.testing.assert_allclose(response(twin, np.exp(1j * TURN * f * T)), want, rtol=1e-9,
                               atol=1e-10)  # fmt: skip


GAINS = {  # at x = f / cutoff, by the formulas of the docstring, of order 4
    "butterworth": ({}, lambda x: (1 + x**8) ** -0.5),
    "critical": ({}, lambda x: (1 + (2**0.25 - 1) * x**2) ** -2),
    "bessel": ({"norm": "delay"}, lambda x: 105 / abs(np.polyval([1, 10, 45, 105, 105], 1j * x))),
    "chebyshev1": ({"ripple": 1.0}, lambda x: (1 + (10**0.1 - 1) * T4(x) ** 2) ** -0.5),
    "chebyshev2": ({"attenuation": 30.0}, lambda x: (1 + (10**3 - 1) / T4(1 / x) ** 2) ** -0.5),
}


def T4(x):
    return 8 * x**4 - 8 * x**2 + 1


@pytest.mark.parametrize("design", GAINS)
def test_the_gain_of_a_design_is_its_formula(design):
    """And of its sampled twin at the warped frequency."""
    given, gain = GAINS[design]
    x = np.array([0.01, 0.3, 0.9, 1.0, 1.4, 3.0])
    block = made("LOW_PASS", None, cutoff=1.3, order=4, design=design, **given)
    np.testing.assert_allclose(np.abs(response(block, 1j * TURN * 1.3 * x)), gain(x), rtol=1e-9)
    twin = made("LOW_PASS_S", CLOCK, cutoff=1.3, order=4, design=design, **given)
    turned = np.exp(2j * np.arctan(x * np.tan(np.pi * 1.3 * T)))
    np.testing.assert_allclose(np.abs(response(twin, turned)), gain(x), rtol=1e-9)
    if design in ("butterworth", "critical"):
        assert gain(1.0) == pytest.approx(0.5**0.5)


@pytest.mark.parametrize("order", [4, 19, 20])
@pytest.mark.parametrize("design", GAINS)
def test_filters_far_below_the_clock_s_rate_begin_at_rest_and_stay(design, order):
    """Their sections in series are nearly singular as one matrix."""
    low = 10 ** (-0.5 / 20) if (design, order) in [("chebyshev1", 4), ("chebyshev1", 20)] else 1.0
    block = made("LOW_PASS_S", CLOCK, cutoff=0.02, order=order, design=design, u0=2.0)
    x = block._x0
    for _ in range(300):
        np.testing.assert_allclose(block.output(0.0, [2.0], x)[0], 2 * low, rtol=1e-8)
        x = block.next(0.0, [2.0], x)


def test_a_bessel_filter_of_unit_magnitude_halves_the_power_at_its_cut_off():
    block = made("LOW_PASS", None, cutoff=1.3, order=4, design="bessel")
    (at,) = response(block, [1j * TURN * 1.3])
    assert abs(at) == pytest.approx(0.5**0.5, rel=1e-9)


def test_a_bessel_filter_of_norm_delay_delays_a_ramp_by_its_time(tmp_path):
    """Behind a ramp it is late by 1 / (2 pi cutoff), at 1 Hz by 0.159 s."""
    (tmp_path / "ramp.yaml").write_text("""
blocks:
  u: {type: RAMP, T: 0, slope: 1}
  y: {type: LOW_PASS, cutoff: 1, order: 5, design: bessel, norm: delay}
wires: [u -> y]
run: {T: 6, rtol: 1e-10, atol: 1e-12, log: [y]}
""")
    got = sb.simulate(tmp_path / "ramp.yaml")
    assert float(got["y"][-1]) == pytest.approx(6 - 1 / TURN, abs=1e-8)


def test_equal_lags_do_not_overshoot(tmp_path):
    """The step response of two of them is 1 - (1 + p t) exp(-p t), p = 2 pi / sqrt(sqrt(2) - 1)."""
    p = TURN / np.sqrt(np.sqrt(2) - 1)
    kinds = [("LOW_PASS", {"cutoff": 1.0, "design": "critical"})]
    t, (y,) = step_responses(tmp_path, kinds, "native")
    np.testing.assert_allclose(y, 1.5 * (1 - (1 + p * t) * np.exp(-p * t)), atol=1e-8)


def test_polynomials_in_z_are_taken_as_they_are():
    z = np.exp(S * T)
    num, den = [0.5, 0.1, 0.0], [2.0, -1.2, 0.4]
    block = made("TRANSFER_FUNCTION_S", CLOCK, num=num, den=den, method="none")
    np.testing.assert_allclose(response(block, z), np.polyval(num, z) / np.polyval(den, z))
    block = made("ZERO_POLE_S", CLOCK, zeros=[0.3], poles=[0.5, -0.2], gain=2.0, method="none")
    np.testing.assert_allclose(response(block, z), 2 * (z - 0.3) / (z - 0.5) / (z + 0.2))


# --- in time -------------------------------------------------------------------------------


def step_responses(folder, kinds, engine):
    """The times, and what each block gives after a step of 1.5 at the start."""
    blocks, wires = {"u": {"type": "CONSTANT", "value": 1.5}}, []
    for k, (kind, given) in enumerate(kinds):
        blocks[f"y{k}"] = {"type": kind, **given, **({"clock": "c"} if is_sampled(kind) else {})}
        wires.append(f"u -> y{k}")
    log = [f"y{k}" for k in range(len(kinds))]
    run = {"T": 2, "every": 0.05, "rtol": 1e-10, "atol": 1e-12, "log": log}
    text = {"clocks": {"c": {"T": T}}, "blocks": blocks, "wires": wires, "run": run}
    (folder / "step.yaml").write_text(json.dumps(text))
    results = sb.simulate(folder / "step.yaml", engine=engine)
    return results.t, [results[name] for name in log]


def oscillation(t):
    """PT2 with gain 2, omega 3 and damping 0.4 after a step of 1.5: Astrom and Murray, 6.3."""
    d, w = 0.4, 3.0
    wd = w * np.sqrt(1 - d * d)
    return 3 * (1 - np.exp(-d * w * t) * (np.cos(wd * t) + d * w / wd * np.sin(wd * t)))


STEPS = [  # type, parameters, the response, to within
    ("PT1", {"gain": 2.0, "tau": 0.4}, lambda t: 3 * (1 - np.exp(-t / 0.4)), 1e-8),
    ("PT2", {"gain": 2.0, "omega": 3.0, "damping": 0.4}, oscillation, 1e-8),
    ("LEAD_LAG", {"lead": 0.5, "lag": 0.1}, lambda t: 1.5 * (1 + 4 * np.exp(-t / 0.1)), 1e-8),
    ("TRANSFER_FUNCTION", {"num": 1.0, "den": [1.0, 0.0, 0.0]}, lambda t: 0.75 * t**2, 1e-8),
    ("LOW_PASS", {"cutoff": 1.0, "order": 1}, lambda t: 1.5 * (1 - np.exp(-TURN * t)), 1e-8),
    # Sampled by a zero-order hold, they are exact at the ticks.
    ("PT1_S", {"gain": 2.0, "tau": 0.4}, lambda t: 3 * (1 - np.exp(-t / 0.4)), 1e-12),
    ("PT2_S", {"gain": 2.0, "omega": 3.0, "damping": 0.4}, oscillation, 1e-12),
    ("LEAD_LAG_S", {"lead": 0.5, "lag": 0.1, "method": "zoh"},
     lambda t: 1.5 * (1 + 4 * np.exp(-t / 0.1)), 1e-12),
]  # fmt: skip


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_step_responses_are_their_closed_forms(tmp_path, engine):
    t, found = step_responses(tmp_path, [row[:2] for row in STEPS], engine)
    for (kind, _, want, within), y in zip(STEPS, found, strict=True):
        np.testing.assert_allclose(y, want(t), atol=within, rtol=0, err_msg=kind)


def test_a_sampled_system_without_feedthrough_closes_a_loop(tmp_path):
    """x(k+1) = 0.5 x(k) - 0.25 x(k) + 0.75: by hand, 1 - 0.25^k."""
    (tmp_path / "loop.yaml").write_text("""
clocks: {c: {T: 0.1}}
blocks:
  r: {type: CONSTANT, value: 3.0}
  e: {type: SUM, signs: "+-"}
  x: {type: TRANSFER_FUNCTION_S, clock: c, num: 0.25, den: [1, -0.5], method: none}
wires: [r -> e.0, x -> e.1, e -> x]
run: {T: 0.55, every: 0.1, log: [x]}
""")
    for engine in ("native", "interpreter"):
        got = sb.simulate(tmp_path / "loop.yaml", engine=engine)["x"][:6]
        np.testing.assert_allclose(got, 1 - 0.25 ** np.arange(6), atol=1e-14)


@pytest.mark.parametrize("case", [c for c in CASES if "u0" in c[1]], ids=lambda c: c[0])
def test_a_system_begins_at_rest(case):
    kind, given, _ = case
    block = made(kind, CLOCK, **given)
    x = np.asarray(block._x0, dtype=float)
    u = np.broadcast_to(given["u0"], block.in_ports[0].shape)
    u = u if u.ndim else float(u)
    after = block.next(0.0, [u], x) - x if is_sampled(kind) else block.deriv(0.0, [u], x)
    np.testing.assert_allclose(after, 0.0, atol=1e-12)


# --- wrong parameters ----------------------------------------------------------------------

WRONG = [
    ("STATE_SPACE", {**SECOND, "A": [[1.0, 2.0]]}, "A must be a square matrix"),
    ("STATE_SPACE", {**SECOND, "B": [1.0]}, r"B must have 2 rows, as A has, not shape \(1,\)"),
    ("STATE_SPACE", {**SECOND, "C": [1.0]}, "C must have 2 columns"),
    ("STATE_SPACE", {**SECOND, "D": [1.0, 2.0]}, r"D must have shape \(1, 1\)"),
    ("STATE_SPACE", {**SECOND, "x0": [1.0]}, "the system has 2 states"),
    ("STATE_SPACE_S", {**SECOND, "method": "tustn"}, "did you mean 'tustin'"),
    ("TRANSFER_FUNCTION", {"num": [1, 0, 0], "den": [1, 1]}, "2 zeros and 1 poles"),
    ("TRANSFER_FUNCTION", {"num": [1], "den": [0, 2]}, "has no pole"),
    ("TRANSFER_FUNCTION", {"num": [0], "den": [1, 2]}, "num must be a list of numbers, not all"),
    ("TRANSFER_FUNCTION", {"num": [1], "den": [1, 0], "u0": 1}, "it integrates"),
    ("TRANSFER_FUNCTION", {"num": [1], "den": [1, 1], "width": 0}, "width must be a whole number"),
    ("TRANSFER_FUNCTION", {"num": [1], "den": [1, 1], "width": 2, "u0": [1, 2, 3]}, "u0 has 3"),
    ("ZERO_POLE", {"zeros": [], "poles": ["-1+j2"]}, 'write complex numbers as "-1.2j"'),
    ("ZERO_POLE", {"zeros": [], "poles": ["-1+2j"]}, "conjugate pairs"),
    ("ZERO_POLE", {"zeros": [1, 2], "poles": [1]}, "2 zeros and 1 poles"),
    ("PT1", {"gain": 1, "tau": 0}, "tau must be above zero"),
    ("PT2", {"gain": 1, "omega": 1, "damping": -1}, "damping must not be negative"),
    ("PT2", {"gain": [1, 2], "omega": [1, 2, 3]}, "gain has 2 entries and omega has 3"),
    ("LEAD_LAG", {"lead": 1, "lag": -1}, "lag must be above zero"),
    ("NOTCH_S", {"frequency": 10.0, "bandwidth": 1}, "below half the clock's rate, 10 Hz"),
    ("LOW_PASS_S", {"cutoff": 11.0}, "below half the clock's rate"),
    ("LOW_PASS", {"cutoff": 1.0, "order": 0}, "order must be a whole number from 1 to 20"),
    ("LOW_PASS", {"cutoff": 1.0, "design": "chebyshev"}, "did you mean 'chebyshev"),
    ("LOW_PASS", {"cutoff": 1.0, "ripple": 1.0}, "ripple is a parameter of the design chebyshev1"),
    ("LOW_PASS_S", {"cutoff": 1.0, "design": "bessel", "attenuation": 9}, "design chebyshev2, not"),
    ("LOW_PASS", {"cutoff": 1.0, "design": "chebyshev1", "ripple": 0}, "ripple must be above zero"),
    ("LOW_PASS", {"cutoff": 1.0, "design": "bessel", "norm": "mag"}, "norm must be one of"),
]


@pytest.mark.parametrize(("kind", "given", "told"), WRONG)
def test_wrong_parameters_are_refused(kind, given, told):
    with pytest.raises((InputError, ValueError), match=told):
        made(kind, CLOCK, **given)
