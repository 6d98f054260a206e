"""PULSE, CHIRP, MULTISINE, PRBS, REPEATING and the sampled random signals, by closed forms."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from scipy import signal

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.base.random_numbers import advanced, normal, seeded, uniform
from spart_blocks.diagram.network.clocks import meant
from spart_blocks.export import step_code, verify
from spart_blocks.program.subdiagram import subdiagram_of
from spart_blocks.program.tracing.switching import rounded_times
from spart_blocks.run.events.stops import just_before

SECONDS = 2.4

# The block's parameters in YAML, and its signal as a function of time.
CASES = {
    "pulse": (
        "type: PULSE, amplitude: [2, -1], period: 0.7, width: 0.3, delay: 0.25, offset: 0.5",
        lambda t: np.column_stack(
            [0.5 + a * ((t >= 0.25) & ((t - 0.25) % 0.7 < 0.21)) for a in (2, -1)]
        ),
    ),
    "chirp": (
        "type: CHIRP, f0: 1, f1: 4, duration: 1.3, amplitude: 2, phase: 0.3, offset: 1",
        lambda t: 1 + 2 * np.where(
            t < 1.3,
            signal.chirp(t, 1, 1.3, 4, phi=np.rad2deg(0.3) - 90),
            np.sin(0.3 + 2 * np.pi * (1.3 * 2.5 + 4 * (t - 1.3))),
        ),
    ),
    "logarithmic chirp": (
        "type: CHIRP, f0: 1, f1: 4, duration: 3, method: logarithmic",
        lambda t: signal.chirp(t, 1, 3, 4, "logarithmic", phi=-90),
    ),
    "repeated chirp": (
        "type: CHIRP, f0: 1, f1: 4, duration: 1.3, after: repeat",
        lambda t: np.sin(
            2 * np.pi * (1.3 * 2.5 * (t // 1.3) + t % 1.3 + 1.5 * (t % 1.3) ** 2 / 1.3)
        ),
    ),
    "multisine": (
        "type: MULTISINE, frequencies: [1, 2.5], amplitudes: [1, 3], phases: [0.1, -2]",
        lambda t: np.cos(2 * np.pi * t + 0.1) + 3 * np.cos(5 * np.pi * t - 2),
    ),
    "prbs": (
        "type: PRBS, order: 4, interval: 0.11, amplitude: 2, offset: 1",
        lambda t: 1 + 2 * (2.0 * signal.max_len_seq(4)[0][(t // 0.11).astype(int) % 15] - 1),
    ),
    "repeating": (
        "type: REPEATING, times: [0, 0.3, 1.1], values: [[0, 1], [2, 1], [1, 4]]",
        lambda t: np.column_stack(
            [np.interp(t % 1.1, [0, 0.3, 1.1], y) for y in ([0, 2, 1], [1, 1, 4])]
        ),
    ),
    "repeating steps": (
        "type: REPEATING, times: [0, 0.3, 1.1], values: [0, 2, 1], interpolation: previous",
        lambda t: np.where(t % 1.1 < 0.3, 0.0, 2.0),
    ),
}  # fmt: skip
SAMPLED = {
    "prbs on a clock": "type: PRBS_S, clock: c, order: 5, amplitude: 2, offset: 1, seed: 3",
    "noise": "type: BAND_LIMITED_NOISE, clock: c, power: [0.1, 2], seed: 4",
    "walk": "type: RANDOM_WALK, clock: c, std: 0.5, y0: [1, -1], seed: 5",
}
KNOWN = {name: given for name, (given, _) in CASES.items()} | SAMPLED


@pytest.fixture
def written(tmp_path):
    def write(given, more=""):
        path = tmp_path / "diagram.yaml"
        path.write_text(
            f"clocks: {{c: {{rate: 10}}}}\nblocks:\n  it: {{{given}}}\n  sum: {{type: INTEGRATOR"
            f", x0: {[0, 0] if '[' in given and 'MULTI' not in given else 0}}}\n{more}"
            f"wires: [it -> sum]\nrun: {{T: {SECONDS}, log: [it, sum], rtol: 1e-9, atol: 1e-11}}\n"
        )
        return path

    def for_scalars(given, more=""):
        path = write(given, more)
        if "steps" in given or "previous" in given:
            path.write_text(path.read_text().replace("x0: [0, 0]", "x0: 0"))
        return path

    return for_scalars


def beside(t, edges):
    """Whether no edge is near the times."""
    return np.abs(t[:, None] - edges).min(axis=1) > 1e-6


@pytest.mark.parametrize("engine", ["native", "interpreter"])
@pytest.mark.parametrize("name", CASES)
def test_a_source_is_its_formula_on_both_engines(written, name, engine):
    given, formula = CASES[name]
    diagram = sb.load(written(given))
    results = sb.simulate(diagram, engine=engine, every=0.0173)
    program = sb.trace(diagram)
    edges = rounded_times(program.switches(), Fraction(0), Fraction(SECONDS))
    apart = beside(results.t, np.append(edges, -1.0))
    assert apart.sum() > 100
    got = results["it"][apart].reshape(apart.sum(), -1)
    want = formula(results.t[apart]).reshape(apart.sum(), -1)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", ["pulse", "prbs", "repeating steps", "repeating"])
def test_steps_end_at_the_edges_of_a_source(written, name):
    """Euler's method integrates pieces exactly where they are constant, Heun's lines."""
    given, formula = CASES[name]
    solver = "heun" if name == "repeating" else "euler"
    results = sb.simulate(written(given), solver=solver, max_step=0.5)
    fine = (np.arange(2_400_000) + 0.5) * 1e-6
    want = formula(fine).sum(axis=0) * 1e-6
    np.testing.assert_allclose(results["sum"][-1].ravel(), np.ravel(want), atol=1e-5)


@pytest.mark.parametrize("name", KNOWN)
def test_exported_c_gives_what_the_program_gives(written, name):
    code = step_code(subdiagram_of(written(KNOWN[name]), ["*"]), rate=100)
    found = verify(code, np.zeros((250, 0)))
    assert found.passed, found


@pytest.mark.parametrize("order", range(2, 17))
def test_a_prbs_is_scipy_s_sequence_and_has_its_autocorrelation(bdsim_runtime, order):
    block = bdsim_runtime._blocklibrary["PRBS"]["class"](order)
    np.testing.assert_array_equal(block.bits, 2.0 * signal.max_len_seq(order)[0] - 1)
    n = len(block.bits)
    spectrum = np.abs(np.fft.fft(block.bits)) ** 2
    correlation = np.fft.ifft(spectrum).real / n
    np.testing.assert_allclose(correlation[1:], -1 / n, atol=1e-12)


@pytest.mark.parametrize("engine", ["native", "interpreter"])
@pytest.mark.parametrize(("order", "seed"), [(5, 0), (8, 3), (17, 0), (32, 0)])
def test_a_register_on_a_clock_gives_the_bits_of_its_table(bdsim_runtime, order, seed, engine):
    bd = bdsim_runtime.blockdiagram(name="prbs")
    clock = bd.clock(10, "Hz", name="c")
    bd.connect(bd.PRBS_S(clock, order, seed=seed, name="prbs"), bd.ZOH(clock, name="held"))
    results = sb.simulate(bd, T=7.95, every=0.1, log=["held"], engine=engine)
    start = 2**order - 1 - seed
    state = [start >> bit & 1 for bit in range(order)]
    want = 2.0 * signal.max_len_seq(order, state=state, length=80)[0] - 1
    np.testing.assert_array_equal(results["held"][:80], want)


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_both_prbs_give_the_same_bit_from_each_tick_to_the_next(tmp_path, engine):
    """To what is logged, to what integrates, and to blocks on the clock and on a faster one. The
    period is no binary fraction: the ticks are not multiples of it in doubles."""
    signals = {"a": "{type: PRBS, order: 5, interval: 0.1}",
               "b": "{type: PRBS_S, clock: c, order: 5}"}  # fmt: skip
    text, wires, log = "", [], []
    for name, block in signals.items():
        text += f"  {name}: {block}\n  i{name}: {{type: INTEGRATOR}}\n"
        text += f"  s{name}: {{type: INTEGRATOR_S, clock: c}}\n"
        text += f"  f{name}: {{type: INTEGRATOR_S, clock: fast}}\n"
        wires.append(f"{name} -> i{name}, s{name}, f{name}")
        log += [name, f"i{name}", f"s{name}", f"f{name}"]
    path = tmp_path / "both.yaml"
    path.write_text(
        f"clocks: {{c: {{T: 0.1}}, fast: {{T: 0.05}}}}\nblocks:\n{text}wires: {json.dumps(wires)}\n"
        f"run: {{T: 8, every: 0.05, log: [{', '.join(log)}]}}\n"
    )
    results = sb.simulate(path, engine=engine)
    bits = 2.0 * signal.max_len_seq(5, length=80)[0] - 1
    np.testing.assert_array_equal(results["a"][:-1].ravel(), np.repeat(bits, 2))
    sums = np.concatenate([[0.0], np.cumsum(bits)]) * 0.1
    for name in signals:
        np.testing.assert_allclose(results[f"i{name}"][::2].ravel(), sums, atol=1e-9)
        np.testing.assert_allclose(results[f"s{name}"][::2].ravel(), sums, atol=1e-9)
    for other in log[:4]:
        np.testing.assert_allclose(
            results[other], results[other.replace("a", "b")], atol=1e-9, err_msg=other
        )


def test_schroeder_s_phases_keep_the_peaks_low(bdsim_runtime):
    made = bdsim_runtime._blocklibrary["MULTISINE"]["class"]
    frequencies, t = np.arange(1.0, 32.0), np.linspace(0, 1, 4096, endpoint=False)

    def crest(**given):
        block = made(frequencies, **given)
        y = np.array([block.output(at, [], None)[0] for at in t])
        assert np.mean(y**2) == pytest.approx(31 / 2)
        return np.abs(y).max() / np.sqrt(np.mean(y**2))

    n = np.arange(31)
    assert crest(phases=0.0) == pytest.approx(np.sqrt(2 * 31))
    assert crest() == pytest.approx(crest(phases=-np.pi * n * (n + 1) / 31), rel=1e-2)
    assert crest() < 1.8


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_a_walk_sums_the_numbers_of_its_seed(written, engine):
    diagram = written(SAMPLED["walk"], "  held: {type: ZOH, clock: c, x0: [0, 0]}\n")
    text = diagram.read_text().replace("it -> sum", "it -> sum, it -> held")
    diagram.write_text(text.replace("log: [it, sum]", "log: [held]"))
    results = sb.simulate(diagram, engine=engine, every=0.1)
    state, want = advanced(seeded(5, 2)), [np.array([1.0, -1.0])]
    for _ in range(21):
        want.append(want[-1] + 0.5 * np.sqrt(0.1) * normal(uniform(state)))
        state = advanced(state)
    at = np.searchsorted(results.t, 0.1 * np.arange(21) - 1e-9)
    np.testing.assert_allclose(results["held"][at], want[1:], rtol=1e-12)


def test_band_limited_noise_has_its_density_whatever_its_clock(bdsim_runtime):
    for rate in (10.0, 1000.0):
        bd = bdsim_runtime.blockdiagram(name="noise")
        bd.BAND_LIMITED_NOISE(bd.clock(rate, "Hz", name="c"), 0.2, size=4, seed=2, name="noise")
        n = 5_000
        y = sb.simulate(bd, T=(n - 0.5) / rate, every=1 / rate, log=["noise"])["noise"][:n]
        # Welch's estimate is one-sided: twice the two-sided density. Its mean has n values.
        _, density = signal.welch(y, rate, axis=0, nperseg=50)
        assert np.mean(density[1:-1]) == pytest.approx(2 * 0.2, rel=4 * np.sqrt(2 / (4 * n)))


def test_the_draws_of_a_sweep_have_walks_of_their_own_that_begin_at_y0(written):
    path = written(SAMPLED["walk"])
    sweep = sb.sweep(path, runs=400, seed=1, log=["it"], metrics={"end": "final(it[0])"})
    end = np.asarray(sweep["end"], dtype=float)
    assert len(set(end)) == 400
    # 24 ticks of 0.1 s and that at 0: variance 0.25 * 2.5.
    assert np.mean(end) == pytest.approx(1.0, abs=3.5 * 0.5 * np.sqrt(2.5 / 400))
    assert np.std(end) == pytest.approx(0.5 * np.sqrt(2.5), rel=0.15)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("type: PULSE, width: 30", "width must be above 0 and below 1"),
        ("type: PULSE, period: 0", "period must be above zero"),
        ("type: CHIRP, f0: 1, f1: 2, duration: 0", "duration must be above zero"),
        ("type: CHIRP, f0: 0, f1: 2, duration: 1, method: logarithmic", "f0 must be above zero"),
        ("type: CHIRP, f0: 2, f1: 2, duration: 1, method: logarithmic", "f0 and f1 that differ"),
        ("type: CHIRP, f0: 2, f1: 2, duration: 1, method: log", "logarithmic"),
        ("type: MULTISINE, frequencies: [1, 2], amplitudes: [1, 2, 3]", "one length"),
        ("type: MULTISINE, frequencies: [1, 2], amplitudes: 0", "must not all be zero"),
        ("type: MULTISINE, frequencies: [1, 0]", "frequencies must be above zero"),
        ("type: PRBS, order: 17", "order must be a whole number from 2 to 16"),
        ("type: PRBS, seed: -1", "seed must be a whole number from 0 on"),
        ("type: PRBS_S, clock: c, order: 33", "order must be a whole number from 2 to 32"),
        ("type: REPEATING, times: [1, 2], values: [1, 2]", "times must begin at 0"),
        ("type: REPEATING, times: [0, 2], values: [1, 2, 3]", "values must have a number"),
        ("type: REPEATING, times: [0, 0], values: [1, 2]", "times must rise"),
        ("type: BAND_LIMITED_NOISE, clock: c, power: -1", "power must not be negative"),
        ("type: RANDOM_WALK, clock: c, std: [1, 2], y0: [1, 2, 3]", "differ"),
    ],
)
def test_wrong_parameters_are_told(written, given, told):
    with pytest.raises(InputError, match=told):
        sb.load(written(given))


@pytest.mark.parametrize(("period", "delay"), [(0.7, 0.25), (0.1, 0.3), (1 / 3, 0.07)])
def test_a_pulse_has_its_new_value_at_its_edges(bdsim_runtime, period, delay):
    """At the double nearest to an edge of the numbers as written, not just before that stop."""
    block = bdsim_runtime._blocklibrary["PULSE"]["class"](1.0, period, 0.3, delay)
    length, start = meant(period), meant(delay)
    for k in range(2000):
        for part, on in ((Fraction(0), 1.0), (Fraction(3, 10), 0.0)):
            edge = float(start + (k + part) * length)
            assert block.output(edge, [], None)[0] == on
            assert edge == 0 or block.output(just_before(edge), [], None)[0] == 1.0 - on
