"""Margins, norms and poles are those of python-control, and change by their derivatives."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.signal import cont2discrete

from spart_blocks.analysis.frequency.margins import Loop, gains_of_disk, phase_of_disk
from spart_blocks.analysis.frequency.poles import Poles
from spart_blocks.analysis.frequency.response import Changes, Matrices
from spart_blocks.analysis.frequency.transfers import Transfer
from spart_blocks.base.errors import RunError

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "frequency.json").read_text())
LOOPS = {
    name: Matrices(*(np.array(one[key]).reshape(shape) for key, shape in zip("ABCD", (
        (len(one["A"]), len(one["A"])), (len(one["A"]), -1), (-1, len(one["A"])),
        (len(one["D"]), -1)), strict=True)), one["dt"])
    for name, one in GOLDEN["loops"].items()
}  # fmt: skip


def readings(L, changes=None):
    """All figures of a loop L."""
    loop = Loop(L, changes or Changes.none(L))
    S, dS = loop.closed_with_changes()
    poles = Poles(S, dS)
    found = {
        "sensitivity_peak": loop.sensitivity_peak,
        "complementary_peak": loop.complementary_peak,
        "disk_margin": loop.disk_margin,
        "disk_margin of S": lambda: loop.disk_margin(1.0),
        "damping": poles.damping,
        "decay": poles.decay,
    }
    if len(L.D) == 1:
        T, dT = Matrices(S.A, S.B, -S.C, 1 - S.D, S.dt), Changes(dS.dA, dS.dB, -dS.dC, -dS.dD)
        found |= {"gain_margin": loop.gain_margin, "phase_margin": loop.phase_margin,
                  "crossover": loop.crossover, "delay_margin": loop.delay_margin,
                  "bandwidth": Transfer(T, dT).bandwidth}  # fmt: skip
    return {name: make() for name, make in found.items()}


@pytest.mark.parametrize("name", LOOPS)
def test_figures_are_those_of_python_control(name):
    """Which finds disk margins over a grid of frequencies."""
    found = readings(LOOPS[name])
    for figure, value in GOLDEN["loops"][name]["figures"].items():
        assert found[figure].value == pytest.approx(value, rel=1e-8), figure


@pytest.mark.parametrize("name", LOOPS)
def test_derivatives_are_those_of_extrapolated_differences(name):
    """Along a random direction of all four matrices, by two steps of Richardson's extrapolation."""
    L, rng = LOOPS[name], np.random.default_rng(7)
    ways = [rng.normal(size=one.shape) * (one != 0) for one in (L.A, L.B, L.C, L.D)]

    def moved(h):
        return Matrices(*(one + h * way for one, way in zip((L.A, L.B, L.C, L.D), ways,
                                                            strict=True)), L.dt)  # fmt: skip

    found = readings(L, Changes(*(way[None] for way in ways)))
    steps = 1e-3 * 0.5 ** np.arange(3) * (0.1 if L.dt else 1.0)
    sides = [(readings(moved(h)), readings(moved(-h))) for h in steps]
    for figure, one in found.items():
        if not math.isfinite(one.value) or math.isinf(one.w):
            continue  # a peak that is approached at infinity has derivatives to one side
        d = [(up[figure].value - down[figure].value) / (2 * h)
             for h, (up, down) in zip(steps, sides, strict=True)]  # fmt: skip
        first, second = (4 * d[1] - d[0]) / 3, (4 * d[2] - d[1]) / 3
        best = (16 * second - first) / 15
        size = max(abs(best), 1e-3 * abs(one.value))
        assert one.changes[0] == pytest.approx(best, abs=2e-6 * size), figure


def test_margins_of_a_double_integrator_with_a_lead_are_its_closed_form():
    """L = k (s + a) / (s^2 (s + b)): no gain makes it unstable, and the phase is
    atan(w/a) - atan(w/b)."""
    a, b, k = 1.0, 9.0, 12.0
    L = Matrices(np.array([[0, 1, 0], [0, 0, 1], [0, 0, -b]]), np.array([[0], [0], [1.0]]),
                 np.array([[k * a, k, 0]]), np.zeros((1, 1)))  # fmt: skip
    loop = Loop(L, Changes.none(L))
    assert math.isinf(loop.gain_margin().value)
    margin = loop.phase_margin()
    w = margin.w
    assert k * math.hypot(w, a) == pytest.approx(w**2 * math.hypot(w, b))
    assert margin.value == pytest.approx(math.atan(w / a) - math.atan(w / b))
    assert loop.delay_margin().value == pytest.approx(margin.value / w)


@pytest.mark.parametrize("seed", range(8))
def test_poles_at_zero_that_rounding_has_parted_are_taken_to_be_there(seed):
    """The same loop in turned coordinates, with a state that nothing reaches: its two poles at zero
    are some 1e-8 apart."""
    a, b, k = 1.0, 9.0, 12.0
    rng = np.random.default_rng(seed)
    T, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    A = np.array([[0, 1, 0, 0.3], [0, 0, 1, 0], [0, 0, -b, 0.2], [0, 0, 0, -2]])
    B, C = np.array([[0], [0], [1.0], [0]]), np.array([[k * a, k, 0, 0.5]])
    for dt in (0.0, 0.01):
        L = Matrices(A, B, C, np.zeros((1, 1)))
        if dt:
            turned = np.linalg.inv(np.eye(4) - 0.5 * dt * A)  # Tustin's
            L = Matrices((np.eye(4) + 0.5 * dt * A) @ turned, dt * turned @ B, C @ turned,
                         0.5 * dt * C @ turned @ B, dt)  # fmt: skip
        L = Matrices(T @ L.A @ T.T, T @ L.B, L.C @ T.T, L.D, dt)
        loop = Loop(L, Changes.none(L))
        margin = loop.phase_margin()
        w = 2 / dt * math.tan(margin.w * dt / 2) if dt else margin.w
        assert margin.value == pytest.approx(math.atan(w / a) - math.atan(w / b), rel=1e-6)
        assert k * math.hypot(w, a) == pytest.approx(w**2 * math.hypot(w, b), rel=1e-6)
        if not dt:
            assert math.isinf(loop.gain_margin().value)


def test_the_disk_of_a_margin_has_its_gains_and_phases():
    """Seiler, Packard and Gahinet (2020), of the symmetric disk: a = 0.8 allows gains from 0.43 to
    2.33, and a phase of 2 atan(a / 2)."""
    low, high = gains_of_disk(0.8)
    assert (low, high) == (pytest.approx(1.2 / 2.8), pytest.approx(2.8 / 1.2))
    assert phase_of_disk(0.8) == pytest.approx(2 * math.atan(0.4))
    assert gains_of_disk(2.5) == (0.0, math.inf)
    # With skew 1 it is that of S: gains up to 1 / (1 - a), T-based with skew -1: from 1 - a.
    assert gains_of_disk(0.5, 1.0) == (pytest.approx(2 / 3), pytest.approx(2.0))
    assert gains_of_disk(0.5, -1.0) == (pytest.approx(0.5), pytest.approx(1.5))


def test_states_that_do_not_show_do_not_count():
    """An integrator that nothing drives, and one that nothing reads, beside a stable loop."""
    L = LOOPS["three lags"]
    A = np.zeros((5, 5))
    A[:3, :3], A[3, 0], A[0, 4] = L.A, 1.0, 1.0
    B, C = np.vstack([L.B, np.zeros((2, 1))]), np.hstack([L.C, np.zeros((1, 2))])
    found = readings(Matrices(A, B, C, L.D))
    for figure, one in readings(L).items():
        assert found[figure].value == pytest.approx(one.value, rel=1e-9), figure


def test_a_gain_margin_may_lie_at_an_infinite_frequency():
    """(2 - s/2) / (s + 1): with twice the gain the pole of the closed loop has passed infinity."""
    one = np.ones((1, 1))
    L = Matrices(-one, one, 2.5 * one, -0.5 * one)
    move = Changes(0 * one[None], 0 * one[None], 0 * one[None], one[None])
    found = Loop(L, move).gain_margin()
    assert (found.value, found.w) == (pytest.approx(2), math.inf)
    assert found.changes[0] == pytest.approx(4)


def drawn(rng):
    """A random loop of one signal: resonances, integrators, poles that grow, a period at times."""
    poles = np.array([])
    for _ in range(rng.integers(1, 4)):
        w = 10 ** rng.uniform(-1, 2)
        damping = min(10 ** rng.uniform(-2, 0.5), 1.0)
        pair = -damping * w + 1j * w * np.sqrt(1 - damping**2)
        poles = np.append(
            poles, [pair, pair.conjugate()] if damping < 1 else rng.choice([0, w / 3, -w])
        )
    blocks = [np.array([[p.real, p.imag], [-p.imag, p.real]]) if p.imag else np.array([[p.real]])
              for p in poles if p.imag >= 0]  # fmt: skip
    n = len(poles)
    T = np.linalg.qr(rng.normal(size=(n, n)))[0]
    A = T @ block_diag(*blocks) @ T.T
    B, C = rng.normal(size=(n, 1)) * 10 ** rng.uniform(-1, 2), rng.normal(size=(1, n))
    D = np.full((1, 1), 0.2 * rng.normal() if rng.random() < 0.3 else 0.0)
    if rng.random() < 0.3:
        dt = 10 ** rng.uniform(-2, -1)
        A, B, C, D, _ = cont2discrete((A, B, C, D), dt)
        return Matrices(A, B, C, D, dt)
    return Matrices(A, B, C, D)


def scaled(L, gain):
    return Loop(Matrices(L.A, L.B, gain * L.C, gain * L.D, L.dt), Changes.none(L))


def stable(loop):
    S = loop.closed_with_changes()[0]
    return bool((S.s_poles.real < 0).all())


def test_random_loops_lose_stability_at_their_margins():
    """At its gain margin, risen or fallen, a loop loses stability; its peaks are above all gains
    on a grid, and are attained."""
    rng, tried = np.random.default_rng(12), 0
    while tried < 40:
        L = drawn(rng)
        if not stable(scaled(L, 1.0)):
            continue
        tried += 1
        loop = scaled(L, 1.0)
        margin = loop.gain_margin().value
        if margin < 1e4:
            assert not (stable(scaled(L, margin * 1.001)) and stable(scaled(L, 1 / margin / 1.001)))
        inside = np.geomspace(1 / min(margin, 1e3), min(margin, 1e3), 9)
        inside = np.clip(inside, 1.001 / margin, margin / 1.001)
        assert all(stable(scaled(L, gain)) for gain in inside)
        peak = loop.sensitivity_peak()
        w = np.geomspace(1e-3, min(1e4, L.nyquist), 2000)
        gains = np.abs(loop.closed.at(w)[:, 0, 0])
        assert peak.value >= gains.max() * (1 - 1e-9)
        assert abs(loop.closed.at(np.array([peak.w]))[0, 0, 0]) == pytest.approx(peak.value)
        disk = loop.disk_margin().value
        low, high = gains_of_disk(disk)
        assert low >= (1 - 1e-9) / margin
        assert high <= margin * (1 + 1e-9)


def test_equal_loops_have_a_derivative_where_they_change_together():
    one, rng = LOOPS["three lags"], np.random.default_rng(3)
    two = Matrices(*(np.kron(np.eye(2), part) for part in (one.A, one.B, one.C, one.D)))
    way = rng.normal(size=one.A.shape) * (one.A != 0)
    none = [np.zeros((1, *part.shape)) for part in (two.B, two.C, two.D)]
    alone = readings(one, Changes(way[None], *(np.zeros((1, *part.shape))
                                               for part in (one.B, one.C, one.D))))  # fmt: skip
    both = readings(two, Changes(np.kron(np.eye(2), way)[None], *none))
    apart = readings(two, Changes(np.kron(np.diag([1, 0]), way)[None], *none))
    for figure in both:
        assert both[figure].value == pytest.approx(alone[figure].value, rel=1e-8), figure
        assert both[figure].changes == pytest.approx(alone[figure].changes, rel=1e-6), figure
        assert not both[figure].kink
        assert apart[figure].kink, figure


def test_poles_that_meet_have_the_derivative_of_their_mean():
    """s^2 + b s + 1 at b = 2: their sum is -b; each alone moves as the root of a change."""
    A = np.array([[0.0, 1], [-1, -2]])
    of = Matrices(A, np.array([[0.0], [1]]), np.eye(2), np.zeros((2, 1)))
    move = np.array([[[0.0, 0], [0, -1]]])
    found = Poles(of, Changes(move, np.zeros((1, 2, 1)), np.zeros((1, 2, 2)),
                              np.zeros((1, 2, 1)))).decay()  # fmt: skip
    assert found.value == pytest.approx(1, abs=1e-7)
    assert found.changes[0] == pytest.approx(0.5)
    assert "2 poles meet at -1" in found.kink


def test_what_has_no_margin_is_told():
    L = LOOPS["unstable plant"]
    half = Matrices(L.A, L.B, 0.2 * L.C, L.D)
    with pytest.raises(RunError, match=r"closed loop is not stable.*its pole .* does not decay"):
        Loop(half, Changes.none(half)).disk_margin()
    two = LOOPS["turning body (2 x 2)"]
    with pytest.raises(RunError, match="of one signal, and this loop cuts 2"):
        Loop(two, Changes.none(two)).gain_margin()
    with pytest.raises(RunError, match="the norm is infinite: the pole"):
        Transfer(L, Changes.none(L)).norm()
    one = np.ones((1, 1))
    small = Matrices(-one, one, 0.5 * one, 0 * one)
    with pytest.raises(RunError, match="no crossover"):
        Loop(small, Changes.none(small)).crossover()
