"""SPECTRUM: the transform of sines and of a step in closed form, in every execution."""

from __future__ import annotations

import json

import numpy as np
import pytest
from dynamic_blocks import check_c, check_engines, check_fmu, made

import spart_blocks as sb
from spart_blocks.base.errors import InputError

CASES = [
    ("SPECTRUM", {"frequencies": [0.3, 0.5]}, [None]),
    ("SPECTRUM", {"frequencies": [0.25, 1.0], "tau": 0.7}, [None]),
]


def test_both_engines_run_alike(tmp_path):
    check_engines(CASES, tmp_path)


def test_the_c_agrees_back_to_back(tmp_path):
    check_c(CASES, tmp_path)


def test_the_fmu_agrees(tmp_path):
    check_fmu(CASES, tmp_path)


def last(folder, formula, frequencies, T, **more):
    block = {"type": "SPECTRUM", "frequencies": frequencies, **more}
    text = {
        "blocks": {"clock": {"type": "TIME"}, "s": block,
                   "u": {"type": "FCN", "expression": formula}},
        "wires": ["clock -> u", "u -> s"],
        "run": {"T": T, "rtol": 1e-10, "atol": 1e-12, "log": ["s.amplitude", "s.real", "s.imag"]},
    }  # fmt: skip
    (folder / "d.yaml").write_text(json.dumps(text))
    results = sb.simulate(folder / "d.yaml")
    return [results[f"s.{name}"][-1] for name in ("amplitude", "real", "imag")]


def test_it_finds_the_lines_of_a_periodic_signal(tmp_path):
    formula = "3 + 2*sin(2*pi*t) + cos(4*pi*t + 0.5)"
    amplitude, real, imag = last(tmp_path, formula, [0, 1, 1.5, 2], 4)
    np.testing.assert_allclose(amplitude, [3, 2, 0, 1], atol=1e-8)
    lines = [3, -1j, 0, 0.5 * np.exp(0.5j)]
    np.testing.assert_allclose(real + 1j * imag, lines, atol=1e-8)


def test_it_forgets_with_its_time_constant(tmp_path):
    """Of a constant: the integral of exp(-(t - s)/tau - i w s) over s, by that of the weights."""
    tau, T, w = 0.8, 1.3, 2 * np.pi * np.array([0.0, 0.4])
    _, real, imag = last(tmp_path, "5 + 0*u", [0, 0.4], T, tau=tau)
    rate = 1 / tau - 1j * w
    want = 5 * (np.exp(-1j * w * T) - np.exp(-T / tau)) / rate / (tau * (1 - np.exp(-T / tau)))
    np.testing.assert_allclose(real + 1j * imag, want, atol=1e-8)


def test_at_the_start_it_is_zero():
    block = made("SPECTRUM", None, frequencies=[0.0, 2.0])
    for out in block.output(0.0, [1.0], block._x0):
        np.testing.assert_array_equal(out, [0.0, 0.0])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"frequencies": [-1.0]}, "frequencies must be 1 to 1000 numbers, 0 or more"),
        ({"frequencies": []}, "frequencies"),
        ({"frequencies": [1.0], "tau": 0.0}, "tau must be above"),
    ],
)
def test_wrong_parameters_are_refused(given, told):
    with pytest.raises((InputError, ValueError), match=told):
        made("SPECTRUM", None, **given)
