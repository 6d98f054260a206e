"""FIRST_ORDER_HOLD, ADC and DAC: their samples and lines by hand, in every execution."""

from __future__ import annotations

import json

import bdsim
import numpy as np
import pytest
from dynamic_blocks import check_c, check_engines, check_fmu, made

import spart_blocks as sb
from spart_blocks.base.errors import InputError

CLOCK = bdsim.Clock(0.05)
CASES = [
    ("FIRST_ORDER_HOLD", {"u0": 0.3}, [None]),
    ("FIRST_ORDER_HOLD", {"width": 2}, [2]),
    ("ADC", {"bits": 4, "lower": -2.0, "upper": 2.0}, [None]),
    ("ADC", {"bits": 3, "lower": [-2.0, -1.0]}, [2]),
    ("DAC", {"bits": 2, "lower": [-2.0, -1.0]}, [2]),
    ("DAC", {"bits": 2, "upper": 3.0}, [None]),
]
ENGINES = ["native", "interpreter"]


def test_both_engines_run_alike(tmp_path):
    check_engines(CASES, tmp_path)


def test_the_c_agrees_back_to_back(tmp_path):
    check_c(CASES, tmp_path)


def test_the_fmu_agrees(tmp_path):
    check_fmu(CASES, tmp_path)


def held(folder, engine, formula, **clock):
    text = {
        "clocks": {"c": {"T": 0.25, **clock}},
        "blocks": {
            "clock": {"type": "TIME"},
            "u": {"type": "FCN", "expression": formula},
            "y": {"type": "FIRST_ORDER_HOLD", "clock": "c", "u0": 7.0},
            "end": {"type": "NULL"},
        },
        "wires": ["clock -> u", "u -> y", "y -> end"],
        "run": {"T": 1.6, "every": 0.05, "log": ["y"]},
    }
    (folder / "d.yaml").write_text(json.dumps(text))
    results = sb.simulate(folder / "d.yaml", engine=engine)
    return results.t, np.ravel(results["y"])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_first_order_hold_extends_the_line_of_two_samples(engine, tmp_path):
    t, y = held(tmp_path, engine, "u*u", offset=0.1)
    off = np.abs((t - 0.1) / 0.25 - np.round((t - 0.1) / 0.25)) > 1e-3
    t, y = t[off], y[off]  # between ticks, where a record has one row
    tick = 0.1 + 0.25 * np.floor((t - 0.1) / 0.25)
    before = np.where(tick > 0.2, tick - 0.25, tick)
    slope = np.where(tick > 0.2, (tick**2 - before**2) / 0.25, 0.0)
    want = np.where(t < 0.1, 7.0, tick**2 + slope * (t - tick))
    np.testing.assert_allclose(y, want, atol=1e-12)
    late = t > 0.4
    assert np.abs(y - t**2)[late].max() <= 0.25**2 * 2


@pytest.mark.parametrize("engine", ENGINES)
def test_a_ramp_passes_unchanged(engine, tmp_path):
    t, y = held(tmp_path, engine, "3 - 2*u")
    np.testing.assert_allclose(y[t > 0.3], (3 - 2 * t)[t > 0.3], atol=1e-12)


def test_a_first_order_hold_takes_the_time_between_ticks_as_it_is(tmp_path):
    """In a triggered subsystem its ticks, at 0.2 and 0.7 s, are no multiples of a period."""
    text = {
        "subsystems": {"part": {
            "inputs": ["go", "u"], "outputs": ["y"], "triggered": {"by": "go"},
            "blocks": {"hold": {"type": "FIRST_ORDER_HOLD"}},
            "wires": ["in.u -> hold", "hold -> out.y"]}},
        "blocks": {"clock": {"type": "TIME"}, "part": {"type": "part"}, "end": {"type": "NULL"},
                   "go": {"type": "FCN", "expression": "(u - 0.2)*(u - 0.5)*(u - 0.7)"}},
        "wires": ["clock -> go, part.u", "go -> part.go", "part.y -> end"],
        "run": {"T": 1, "log": ["part/hold"]},
    }  # fmt: skip
    (tmp_path / "d.yaml").write_text(json.dumps(text))
    for engine in ENGINES:
        results = sb.simulate(tmp_path / "d.yaml", engine=engine)
        y = results["part/hold"][-1]
        assert y == pytest.approx(1.0, abs=1e-8)


def codes(u, **given):
    block = made("ADC", CLOCK, width=len(u), **given)
    return block.next(0.0, [np.asarray(u)], block._x0)


def test_codes_are_the_steps_below_and_end_at_the_range():
    got = codes([-9.0, -1.0, -0.51, -0.5, 0.49, 0.5, 0.99, 1.0, 9.0], bits=2)
    np.testing.assert_array_equal(got, [0, 0, 0, 1, 2, 3, 3, 3, 3])


def test_a_dac_gives_back_a_signal_to_a_step():
    u = np.random.default_rng(1).uniform(-3, 5, 400)
    given = {"bits": 10, "lower": -3.0, "upper": 5.0}
    dac = made("DAC", CLOCK, width=400, **given)
    (y,) = dac.output(0.0, [None], dac.next(0.0, [codes(u, **given)], dac._x0))
    error, step = u - y, 8 / 2**10
    assert (error >= -1e-12).all()
    assert (error < step).all()
    # The error is uniform over a step: its deviation is that over sqrt(12).
    assert np.std(error) == pytest.approx(step / np.sqrt(12), rel=0.1)


@pytest.mark.parametrize("kind", ["ADC", "DAC"])
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"bits": 0}, "bits"),
        ({"bits": 64}, "bits"),
        ({"lower": 2.0}, "lower is 2.0, above upper"),
        ({"lower": 1.0}, "lower and upper must differ"),
    ],
)
def test_wrong_parameters_are_refused(kind, given, told):
    with pytest.raises((InputError, ValueError), match=told):
        made(kind, CLOCK, **given)
