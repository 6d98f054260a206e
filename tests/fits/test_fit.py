"""`sb.fit`: estimates, their intervals, and what cannot be told apart."""

import json

import numpy as np
import pytest
from bag_writing import write_numbers
from scipy.optimize import curve_fit

import spart_blocks as sb
from spart_blocks.base.errors import SpartWarning

T = np.linspace(0, 2, 41)
NOISE = 0.02 * np.random.default_rng(5).normal(size=len(T))


def law(t, k, x0):
    return x0 * np.exp(-k * t)


def of(file, **more):
    return {"run": {"file": str(file), "signals": {"x": "x"}, **more}}


def test_estimates_and_standard_errors_are_those_of_the_known_solution(decay, measured):
    x = law(T, 3.1, 0.8) + NOISE
    found = sb.fit(decay, {"k": [0, 10], "x0": None}, of(measured("m.csv", T, x=x)))
    best, covariance = curve_fit(law, T, x, p0=[2, 1.5])
    np.testing.assert_allclose([found["k"], found["x0"]], best, rtol=1e-6)
    np.testing.assert_allclose(found.statistics.covariance, covariance, rtol=1e-4)
    assert found.ended
    assert found.overrides == {"k": found["k"], "x0": found["x0"]}
    signal = found.signals[0]
    np.testing.assert_allclose(signal.modelled[:, 0], law(T, *best), atol=1e-7)
    assert signal.whiteness.p > 0.01


def test_an_interval_of_a_logarithm_stays_above_zero(decay, measured):
    x = law(T, 0.05, 1.5) + 10 * NOISE
    options = {"k": {"scale": "log", "start": 1}}
    found = sb.fit(decay, options, of(measured("m.csv", T, x=x)))
    assert 0 < found.statistics.low[0] < found["k"] < found.statistics.high[0]


def test_noise_that_is_known_weighs_signals_and_unknown_noise_is_found(decay, measured):
    rng = np.random.default_rng(1)
    x = law(T, 3, 1.5)
    file = measured("m.csv", T, fine=x + 1e-4 * rng.normal(size=41), rough=-x + rng.normal(size=41))
    signals = {"x": {"column": "fine"}, "flip": {"column": "rough"}}
    text = (
        decay.read_text()
        .replace("flip -> x,", "flip -> x, x -> other, other -> o,")
        .replace("  s: {", "  other: {type: GAIN, K: -1}\n  o: {type: SCOPE}\n  s: {")
    )
    decay.write_text(text)
    signals["other"] = signals.pop("flip")
    unknown = sb.fit(decay, {"k": None}, {"run": {"file": str(file), "signals": signals}})
    assert unknown["k"] == pytest.approx(3, abs=1e-3)
    known = {"x": {"column": "fine", "sd": 1e-4}, "other": {"column": "rough", "sd": 1}}
    found = sb.fit(decay, {"k": None}, {"run": {"file": str(file), "signals": known}})
    assert found["k"] == pytest.approx(3, abs=1e-3)
    assert found.statistics.scale == pytest.approx(1, abs=0.25)


def test_outliers_are_heeded_less_by_a_robust_loss(decay, measured):
    x = law(T, 3, 1.5) + NOISE
    x[::10] += 3
    file = measured("m.csv", T, x=x)
    plain = sb.fit(decay, {"k": None}, of(file))
    robust = sb.fit(decay, {"k": None}, of(file), loss="cauchy")
    assert abs(plain["k"] - 3) > 0.3
    assert robust["k"] == pytest.approx(3, abs=0.1)


def test_experiments_share_parameters_and_have_their_own(decay, measured):
    one, other = measured("a.csv", T, x=law(T, 3, 1)), measured("b.csv", T, x=law(T, 3, -2))
    experiments = {
        "up": {"file": str(one), "signals": {"x": "x"}, "estimate": {"x.x0": [-5, 5]}},
        "down": {"file": str(other), "signals": {"x": "x"}, "set": {"x0": -2}},
    }  # fmt: skip
    found = sb.fit(decay, {"k": [0, 10]}, experiments)
    assert found["k"] == pytest.approx(3, rel=1e-7)
    assert found["x.x0 (up)"] == pytest.approx(1, rel=1e-7)
    assert list(found.overrides) == ["k"]


def test_what_is_held_out_is_predicted_and_not_fitted(decay, measured):
    fitted, other = measured("a.csv", T, x=law(T, 3, 1.5)), measured("b.csv", T, x=law(T, 5, 1.5))
    experiments = {
        "used": {"file": str(fitted), "signals": {"x": "x"}},
        "check": {"file": str(other), "signals": {"x": "x"}, "hold_out": True},
    }
    found = sb.fit(decay, {"k": None}, experiments)
    assert found["k"] == pytest.approx(3, rel=1e-7)
    assert [one.hold_out for one in found.signals] == [False, True]
    assert found.signals[0].explained == pytest.approx(1)
    assert found.signals[1].explained < 0.9


def test_biases_and_delays_of_sensors_are_estimated(decay, measured):
    t = np.linspace(0, 2, 81)
    late = np.where(t >= 0.15, law(t - 0.15, 3, 1.5), 1.5) + 0.25
    file = measured("m.csv", t, x=late)
    sensor = {"column": "x", "bias": [-1, 1], "delay": {"min": 0, "max": 0.5, "start": 0.11}}
    found = sb.fit(decay, {"k": [0, 10]}, {"run": {"file": str(file), "signals": {"x": sensor}}})
    assert found["k"] == pytest.approx(3, rel=1e-6)
    assert found["bias of x (run)"] == pytest.approx(0.25, rel=1e-6)
    assert found["delay of x (run)"] == pytest.approx(0.15, rel=1e-6)


def test_windows_and_offsets_choose_samples(decay, measured):
    x = law(T, 3, 1.5)
    x[T > 1.5] = 99
    file = measured("m.csv", T + 100, x=x)
    found = sb.fit(decay, {"k": None}, of(file, offset=-100, since=0.2, until=1.5))
    assert found["k"] == pytest.approx(3, rel=1e-6)
    assert found.signals[0].times[[0, -1]] == pytest.approx([0.2, 1.5])


def test_what_cannot_be_told_apart_is_named(measured, tmp_path, decay):
    """The rate is the product of two gains: their relative changes cancel."""
    decay.write_text(
        decay.read_text().replace("K: -1", "K: $c").replace("x0: 1.5}", "x0: 1.5, c: -1}")
    )
    file = measured("m.csv", T, x=law(T, 3, 1.5) + NOISE)
    found = sb.fit(decay, {"k": None, "c": None, "x0": None}, of(file))
    assert found["k"] * found["c"] == pytest.approx(-3, abs=0.3)
    assert [np.isnan(one) for one in found.statistics.errors] == [True, True, False]
    (lost,) = found.statistics.combinations
    parts = dict(lost.parts)
    assert parts["k"] == pytest.approx(-parts["c"], abs=1e-3)
    assert abs(parts["k"]) == pytest.approx(2**-0.5, abs=1e-3)
    assert "not identifiable" in str(found)


def test_a_parameter_that_nothing_depends_on_is_named(decay, measured):
    text = (
        decay.read_text()
        .replace("x0: 1.5}", "x0: 1.5, idle: 7}")
        .replace("  s: {", "  i: {type: CONSTANT, value: $idle}\n  z: {type: SCOPE}\n  s: {")
        .replace("x -> s]", "x -> s, i -> z]")
    )
    decay.write_text(text)
    found = sb.fit(decay, {"k": None, "idle": None}, of(measured("m.csv", T, x=law(T, 3, 1.5))))
    assert found["idle"] == 7
    assert "idle: no measured signal depends on it" in str(found)


def test_a_profile_of_a_linear_estimate_is_its_interval(decay, measured):
    found = sb.fit(decay, {"x0": None}, of(measured("m.csv", T, x=law(T, 2, 0.8) + NOISE)))
    profile = found.profile("x0")
    s = found.statistics
    assert (profile.low, profile.high) == pytest.approx((s.low[0], s.high[0]), rel=1e-6)
    np.testing.assert_allclose(
        profile.rise, ((profile.values - found["x0"]) / s.errors[0]) ** 2, rtol=1e-5, atol=1e-6
    )


def test_a_profile_shows_the_side_that_the_data_leave_open(decay, measured):
    """Of a slow decay below the noise, only how fast it may be is known."""
    rough = 10 * NOISE
    found = sb.fit(decay, {"k": {"start": 0.02, "min": 0}, "x0": None},
                   of(measured("m.csv", T, x=law(T, 0.01, 1.5) + rough)))  # fmt: skip
    profile = found.profile("k")
    assert profile.low == 0
    assert 0.02 < profile.high < 1
    with pytest.raises(sb.InputError, match="no estimate 'q'"):
        found.profile("q")


def test_an_estimate_at_its_bound_is_told(decay, measured):
    found = sb.fit(decay, {"k": [0, 2.5]}, of(measured("m.csv", T, x=law(T, 3, 1.5))))
    assert found["k"] == pytest.approx(2.5, rel=1e-5)
    assert "at its bound" in str(found)


def test_an_estimate_at_its_only_bound_is_told(decay, measured):
    """What grows is fitted best by no decay at all."""
    found = sb.fit(decay, {"k": {"min": 0}, "x0": None},
                   of(measured("m.csv", T, x=law(T, -0.5, 1.5))))  # fmt: skip
    assert found["k"] == pytest.approx(0, abs=1e-9)
    assert list(found.statistics.held) == [True, False]
    assert "at its bound" in str(found)


def heights(t, g, e):
    """Of a ball that falls from 1 m and bounces."""
    y, v, last = np.empty_like(t), 0.0, 0.0
    high, then = 1.0, np.sqrt(2 / g)
    for k, now in enumerate(t):
        while now > then:
            v = e * (g * (then - last) - v)
            high, last, then = 0.0, then, then + 2 * v / g
        y[k] = high + v * (now - last) - g * (now - last) ** 2 / 2
    return y


def test_a_ball_is_fitted_through_its_bounces(measured):
    t = np.linspace(0, 1.1, 56)
    file = measured("ball.csv", t, y=heights(t, 9.5, 0.55))
    found = sb.fit("diagrams/signals/bouncing_ball.yaml", {"g": [5, 15], "e": [0.1, 0.9]},
                   {"fall": {"file": str(file), "signals": {"ball.y": "y"}}})  # fmt: skip
    assert (found["g"], found["e"]) == pytest.approx((9.5, 0.55), rel=1e-7)


def test_several_starts_find_the_global_minimum(tmp_path, measured):
    """sin(w t) has a minimum at each w that fits some of its turns."""
    path = tmp_path / "wave.yaml"
    path.write_text("""
name: wave
params: {w: 1.0}
blocks:
  t: {type: TIME}
  y: {type: FCN, params: {w: $w}, expression: sin(w*u)}
  s: {type: SCOPE}
wires: [t -> y, y -> s]
run: {T: 3}
""")
    t = np.linspace(0, 3, 20)
    file = measured("m.csv", t, y=np.sin(4.2 * t))
    experiments = {"run": {"file": str(file), "signals": {"y": "y"}}}
    one = sb.fit(path, {"w": [0.2, 8]}, experiments)
    assert one["w"] != pytest.approx(4.2, rel=1e-3)
    found = sb.fit(path, {"w": [0.2, 8]}, experiments, starts=12)
    assert found["w"] == pytest.approx(4.2, rel=1e-6)


def test_a_fit_is_saved_and_goes_on_from_its_file(decay, measured, tmp_path):
    file = measured("m.csv", T, x=law(T, 3.1, 0.8) + NOISE)
    with pytest.warns(SpartWarning, match="has not ended"):
        first = sb.fit(decay, {"k": None, "x0": None}, of(file), iterations=2)
    first.save(tmp_path / "fit.json")
    content = json.loads((tmp_path / "fit.json").read_text())
    assert [one["name"] for one in content["parameters"]] == ["k", "x0"]
    found = sb.fit(decay, {"k": None, "x0": None}, of(file), start=tmp_path / "fit.json")
    assert found["k"] == pytest.approx(3.1, abs=0.2)
    assert found.ended
    (tmp_path / "bad.json").write_text("[]")
    with pytest.raises(sb.InputError, match="is not the file of a fit"):
        sb.fit(decay, {"k": None}, of(file), start=tmp_path / "bad.json")


def test_an_interrupt_keeps_the_best_so_far(decay, measured):
    file = measured("m.csv", T, x=law(T, 3.1, 0.8) + NOISE)

    def stop(step, cost, moved, name):
        if step == 3:
            raise KeyboardInterrupt

    found = sb.fit(decay, {"k": None, "x0": None}, of(file), progress=stop)
    assert not found.ended
    assert found.why == "interrupted"
    assert found["k"] != 2


def test_each_experiment_is_predicted_by_the_others(decay, measured):
    """Of three runs one decays faster: without it the estimate moves, and it is predicted ill. What
    an experiment alone estimates stays."""
    runs = {}
    for name, k in (("one", 2.0), ("two", 2.0), ("odd", 3.0)):
        file = measured(f"{name}.csv", T, x=law(T, k, 1.2) + NOISE)
        runs[name] = {"file": str(file), "signals": {"x": "x"}, "estimate": {"x0": [0, 5]}}
    found = sb.fit(decay, {"k": {"min": 0.1}}, runs)
    seen = []
    crossed = found.leave_one_out(seen.append)
    assert seen == ["one", "two", "odd"]
    assert crossed.values["odd"][0] == pytest.approx(2.0, abs=0.1)
    assert crossed.values["one"][0] > found["k"]
    predicted = {one.experiment: one.rms for one in crossed.signals}
    fitted = {one.experiment: one.rms for one in found.signals}
    assert predicted["odd"] > 1.2 * fitted["odd"]
    assert all(np.isfinite(values).all() for values in crossed.values.values())
    assert "without odd, k moves by" in str(crossed)


def test_cross_validation_needs_two_experiments(decay, measured):
    file = measured("m.csv", T, x=law(T, 2.0, 1.5) + NOISE)
    found = sb.fit(decay, {"k": None}, of(file))
    with pytest.raises(sb.InputError, match="leaves out one experiment of two or more"):
        found.leave_one_out()


def test_progress_names_the_start_and_warnings_are_told_once(decay, measured):
    file = measured("m.csv", T, x=law(T, 2.5, 1.0) + NOISE)
    names = []
    sb.fit(decay, {"k": [0.1, 10], "x0": [0, 5]}, of(file), starts=3,
           progress=lambda step, cost, moved, name: names.append(name))  # fmt: skip
    assert list(dict.fromkeys(names)) == ["start 1 of 3", "start 2 of 3", "start 3 of 3"]


def test_an_unknown_profile_is_told_before_the_search(decay, measured):
    file = measured("m.csv", T, x=law(T, 2.5, 1.0) + NOISE)

    def never(*seen):
        raise AssertionError(seen)

    with pytest.raises(sb.InputError, match="the fit has no estimate 'q'"):
        sb.fit(decay, {"k": None}, of(file), profiles=["q"], progress=never)


def test_a_bag_is_fitted_at_the_times_of_each_of_its_topics(decay, measured, tmp_path):
    """As two tables with the same samples: none is interpolated to the times of another."""
    fast, slow = np.linspace(0, 2, 41), np.array([0.0, 0.375, 1.5])
    rng = np.random.default_rng(3)
    x = 1.5 * np.exp(-2 * fast) + rng.normal(0, 0.01, 41)
    y = 3.0 * np.exp(-2 * slow) + rng.normal(0, 0.05, 3)
    first, second = measured("fast.csv", fast, x=x), measured("slow.csv", slow, y=y)
    signals = {
        "x": {"column": "x", "sd": 0.01},
        "gain": {"column": "y", "sd": 0.05, "file": str(second)},
    }
    of_topics = {
        "x": {"column": "/fast.data", "sd": 0.01},
        "gain": {"column": "/slow.data", "sd": 0.05},
    }
    bag = write_numbers(tmp_path / "log.bag", fast=(fast, x), slow=(slow, y))
    tables = sb.fit(
        decay, {"k": None, "x0": None}, {"run": {"file": str(first), "signals": signals}}
    )
    found = sb.fit(
        decay, {"k": None, "x0": None}, {"run": {"file": str(bag), "signals": of_topics}}
    )
    assert found["k"] == pytest.approx(tables["k"], rel=1e-9)
    assert found["x0"] == pytest.approx(tables["x0"], rel=1e-9)
    assert found["k"] == pytest.approx(2, abs=0.1)
