"""What a linear system tells of itself: poles, frequencies, files, other programs."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import InputError, MissingExtraError

M, C, K = 2.0, 0.6, 8.0
in_motion = pytest.mark.filterwarnings("ignore:the diagram is not at rest here")
INTEGRATOR = """
blocks: {u: {type: CONSTANT, value: 1.0}, x: {type: INTEGRATOR}}
wires: [u -> x]
"""
GAIN = """
blocks: {u: {type: CONSTANT, value: 1.0}, k: {type: GAIN, K: 3.0}}
wires: [u -> k]
"""


@pytest.fixture
def system(oscillator):
    return sb.linearize(oscillator, inputs="force", outputs="x")


def test_poles_have_frequency_and_damping(system):
    first, second = system.damping()
    natural, ratio = np.sqrt(K / M), C / (2 * np.sqrt(K * M))
    for pole in (first, second):
        assert (pole.frequency, pole.damping) == pytest.approx((natural, ratio), rel=1e-12)
        assert pole.time_constant == pytest.approx(2 * M / C, rel=1e-12)
    assert first.value == second.value.conjugate()
    assert first.value.imag == pytest.approx(natural * np.sqrt(1 - ratio**2), rel=1e-12)
    assert system.stable


def test_bode_is_the_transfer_function(system):
    w = np.array([0.1, 1.0, 2.0, 30.0])
    exact = 1 / (K - M * w**2 + 1j * C * w)
    bode = system.bode(w)
    np.testing.assert_allclose(bode.magnitude[:, 0, 0], abs(exact), rtol=1e-12)
    np.testing.assert_allclose(bode.phase[:, 0, 0], np.angle(exact), atol=1e-12)
    everywhere = system.bode()
    assert everywhere.w[0] < 0.3 < 10 < everywhere.w[-1]
    assert np.ptp(everywhere.phase) == pytest.approx(np.pi, abs=0.1)


@in_motion
def test_a_response_at_a_pole_is_infinite(diagram):
    system = sb.linearize(diagram(INTEGRATOR), inputs="u", outputs="x")
    assert np.isinf(system.bode([0.0]).magnitude).all()
    assert np.isnan(system.damping()[0].damping)
    assert not system.stable


def test_a_system_without_states_is_a_gain(diagram):
    gain = diagram(GAIN)
    system = sb.linearize(gain, inputs="u", outputs="k")
    assert system.A.shape == (0, 0)
    np.testing.assert_array_equal(system.D, [[3.0]])
    np.testing.assert_array_equal(system.bode([1.0, 5.0]).magnitude.ravel(), [3.0, 3.0])
    assert len(system.plot()) == 2


@in_motion
def test_plots_are_figures_without_windows(system, sampled):
    for each in (system, sb.linearize(sampled, inputs="r", outputs=["x", "hold"])):
        bode, poles = each.plot()
        assert [axis.get_ylabel() for axis in bode.axes] == ["magnitude [dB]", "phase [deg]"]
        assert len(bode.axes[0].lines) == len(each.outputs)
        marks = poles.axes[0].lines[-1]
        np.testing.assert_array_equal(marks.get_xdata(), each.poles().real)
    assert "matplotlib.pyplot" not in vars(sys.modules["spart_blocks.analysis.response_plots"])


def test_files_hold_the_system(system, tmp_path):
    with np.load(system.save(tmp_path / "system.npz")) as file:
        np.testing.assert_array_equal(file["A"], system.A)
        assert list(file["states"]) == ["v", "x"]
    read = json.loads(system.save(tmp_path / "system.json").read_text())
    assert (read["B"], read["inputs"], read["dt"]) == (system.B.tolist(), ["force"], 0.0)
    with pytest.raises(InputError, match=r"end it in .npz or .json"):
        system.save(tmp_path / "system.csv")


def test_a_system_cannot_be_changed(system):
    with pytest.raises(ValueError, match="read-only"):
        system.A[0, 0] = 1.0
    with pytest.raises(AttributeError):
        system.dt = 1.0


@in_motion
def test_python_control_takes_it_over(sampled):
    system = sb.linearize(sampled, inputs="r", outputs=["x", "hold"])
    other = system.to_control()
    assert other.dt == system.dt
    np.testing.assert_allclose(sorted(other.poles()), sorted(system.poles()), atol=1e-15)
    w = np.array([0.5, 3.0])
    response = other(np.exp(1j * w * system.dt), squeeze=False)  # outputs, inputs, points
    want = system.frequency_response(w)
    np.testing.assert_allclose(np.moveaxis(response, 2, 0), want, rtol=1e-12)
    assert other.state_labels == ["x", "hold"]


def test_names_with_dots_cross_to_python_control(pd_arm):
    system = sb.linearize(pd_arm, inputs="qd", outputs="plant.qm")
    assert system.to_control().output_labels[0] == "plant_qm[0]"


def test_without_python_control_the_extra_is_named(system, monkeypatch):
    monkeypatch.setitem(sys.modules, "control", None)
    with pytest.raises(MissingExtraError, match=r"\[control\]"):
        system.to_control()
