"""Extended and unscented Kalman filters: those of linear plants, derivatives, sigma points, and the
plants of diagrams.
"""

from __future__ import annotations

import bdsim
import numpy as np
import pytest
from dynamic_blocks import check_c, check_engines, check_fmu, made
from scipy.integrate import solve_ivp

import spart_blocks as sb
from spart_blocks.base.errors import DiagramError, InputError
from spart_blocks.block_support.estimation import cholesky, unpacked
from spart_blocks.diagram.network.flatten import FlatDiagram, Node
from spart_blocks.program.tracing.gains import wired
from spart_blocks.program.tracing.models import find_models

T = 0.05
CLOCK = bdsim.Clock(T)
PENDULUM = {
    "f": ["w", "-g/l*sin(a) - c*w + u"], "h": ["l*sin(a)"], "states": ["a", "w"],
    "controls": ["u"], "params": {"g": 9.81, "l": 1.0, "c": 0.1},
}  # fmt: skip
NOISE = {"Q": [0.01, 0.1], "R": 0.02, "P0": [[0.5, 0.1], [0.1, 0.4]], "x0": [0.4, -0.1]}
CASES = [
    ("EKF_S", {**PENDULUM, **NOISE, "steps": 2}, [None, None, None]),
    ("EKF_S", {**PENDULUM, **NOISE, "h": ["sin(a)", "w*cos(t)"], "current": False},
     [None, 2, None]),
    ("UKF_S", {**PENDULUM, **NOISE}, [None, None, None]),
]  # fmt: skip
LINEAR = {"A": [[1.0, 0.05], [-0.1, 0.98]], "B": [0.0, 0.05], "C": [[1.0, 0.2]], "D": 0.3}
FORMULAS = {
    "f": ["x + 0.05*v", "-0.1*x + 0.98*v + 0.05*u"], "h": "x + 0.2*v + 0.3*u",
    "states": ["x", "v"], "controls": "u", "method": "none",
}  # fmt: skip


def ready(kind, **given):
    """A filter with its model, as a run finds it."""
    block = made(kind, CLOCK, **given)
    node = Node(0, "filter", block, "sampled", (), (), ())
    find_models(sb.Diagram("one", None), [node], FlatDiagram((node,), (0,), {}, {}), wired)
    return block


def test_both_engines_run_alike(tmp_path):
    check_engines(CASES, tmp_path)


def test_the_c_agrees_back_to_back(tmp_path):
    check_c(CASES, tmp_path)


def test_the_fmu_agrees(tmp_path):
    check_fmu(CASES, tmp_path)


@pytest.mark.parametrize("kind", ["EKF_S", "UKF_S"])
def test_of_a_linear_plant_it_is_the_kalman_filter(kind):
    kalman = made("KALMAN_S", CLOCK, **LINEAR, **NOISE, method="none")
    block, rng = ready(kind, **FORMULAS, **NOISE), np.random.default_rng(1)
    x, z = block._x0, kalman._x0
    for k in range(100):
        u = [rng.normal(), rng.normal(), float(k % 7 == 0)]
        for got, want in zip(block.output(0, u, x), kalman.output(0, u, z), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)
        x, z = block.next(0, u, x), kalman.next(0, u, z)


def test_the_model_is_integrated_with_order_four_and_its_derivatives_are_exact():
    block = ready("EKF_S", **PENDULUM, **NOISE, steps=4)
    x, u, p = np.array([0.7, -0.4]), np.array([0.3]), np.array([9.81, 1.0, 0.1])
    moved, F = block._model.moved(0.0, x, u, p)

    def rates(t, y):
        """The pendulum, and the derivative of its flow by the start (variational equation)."""
        phi = y[2:].reshape(2, 2)
        turn = np.array([[0.0, 1.0], [-9.81 * np.cos(y[0]), -0.1]]) @ phi
        return [y[1], -9.81 * np.sin(y[0]) - 0.1 * y[1] + 0.3, *turn.ravel()]

    want = solve_ivp(rates, (0, T), [*x, 1, 0, 0, 1], rtol=1e-12, atol=1e-14).y[:, -1]
    np.testing.assert_allclose(moved, want[:2], atol=1e-8)
    np.testing.assert_allclose(F.ravel(), want[2:], atol=1e-7)
    y, C = block._model.seen(0.0, x, u, p)
    np.testing.assert_allclose([*y, *C[0]], [np.sin(0.7), np.cos(0.7), 0.0], atol=1e-15)


def test_sigma_points_carry_the_mean_of_a_square():
    """E (x - m)^2 = P: the mean of x^2 is m^2 + P, where the extended filter has m^2."""
    given = {"f": "x", "h": "x*x", "states": "x", "method": "none", "Q": 0.0, "R": 1.0,
             "P0": 0.25, "x0": 3.0}  # fmt: skip
    for kind, want in (("UKF_S", 9.25), ("EKF_S", 9.0)):
        _, _, e = ready(kind, **given).output(0, [0.0, 10.0, 0.0], np.array([3.0, 0.25]))
        assert abs(10.0 - e - want) < 1e-12


@pytest.mark.parametrize("alpha", [1.0, 1e-2, 1e-3, 1e-4])
@pytest.mark.parametrize("current", [True, False])
def test_small_spreads_of_the_sigma_points_run_natively(tmp_path, alpha, current):
    """Differences of points close together lose digits: their rounding is no fault of the program.
    The weights, of up to 1 / alpha^2, do not lose more: the estimates are those of any spread."""
    path = tmp_path / "filter.yaml"
    path.write_text(
        f"""
clocks: {{c: {{T: 0.05}}}}
blocks:
  u: {{type: WAVEFORM, wave: sine, freq: 0.2}}
  y: {{type: MUX, nin: 2}}
  filter: {{type: UKF_S, clock: c, f: [w, -9.81*sin(a) - 0.1*w + u], h: [sin(a), w], states: [a, w],
           controls: [u], Q: 0.01, R: 0.02, P0: 0.01, alpha: {alpha}, current: {current}}}
wires: [u -> filter.u, u -> y.0, u -> y.1, y -> filter.y]
run: {{T: 1}}
""",
        encoding="utf-8",
    )
    native, blocks = (sb.simulate(path, engine=e) for e in ("native", "interpreter"))
    for name in ("filter.x_hat", "filter.P"):
        rounding = 100 * np.finfo(float).eps / alpha**2
        np.testing.assert_allclose(native[name][-1], blocks[name][-1], atol=max(1e-12, rounding))


def test_the_moments_of_close_sigma_points_keep_their_digits():
    """E (x - m)^2 = P for a square, to 1e-9 with weights of 1e8: y = x^2 has the mean m^2 + P and
    the variance 4 m^2 P + (beta - alpha^2) P^2."""
    given = {"f": "x", "h": "x*x", "states": "x", "method": "none", "Q": 0.0, "R": 1.0,
             "P0": 0.25, "x0": 0.0, "alpha": 1e-4}  # fmt: skip
    block = ready("UKF_S", **given)
    points, _ = block._points(np.array([0.0]), np.array([[0.25]]))
    mean, _, spread = block._moments([x * x for x in points])
    np.testing.assert_allclose(mean, [0.25], rtol=1e-14)
    np.testing.assert_allclose(spread, [[0.25**2 * 2]], rtol=1e-7)


def test_the_factor_is_that_of_the_covariance_also_where_it_is_singular():
    a = np.random.default_rng(2).normal(size=(4, 4))
    np.testing.assert_allclose(cholesky(a @ a.T), np.linalg.cholesky(a @ a.T), rtol=1e-10)
    b = np.diag([0.0, 2.0, 0.0]) + np.array([[0, 0, 0], [0, 1, 1], [0, 1, 0.5]])
    np.testing.assert_allclose(cholesky(b) @ cholesky(b).T, [[0, 0, 0], [0, 3, 1], [0, 1, 0.5]])


def test_the_errors_of_a_pendulum_are_those_that_p_says():
    """The normalised error squared of 2 states is 2 in the mean (Bar-Shalom et al. (2001), 5.4)."""
    rng, found = np.random.default_rng(4), []
    block = ready("UKF_S", **PENDULUM, **NOISE)
    p, x = np.array([9.81, 1.0, 0.1]), block._x0
    state = np.array([0.9, -0.4])
    for k in range(400):
        u = np.array([np.sin(0.1 * k)])
        y = np.sin(state[0]) + np.sqrt(0.02) * rng.normal()
        mean, P, _ = block.output(k * T, [u[0], y, 0.0], x)
        found.append((state - mean) @ np.linalg.solve(P, state - mean))
        x = block.next(k * T, [u[0], y, 0.0], x)
        noise = np.sqrt(T * np.array([0.01, 0.1])) * rng.normal(size=2)
        state = block._model.moved(k * T, state, u, p)[0] + noise
    assert 1.5 < np.mean(found[40:]) < 2.7
    assert np.linalg.eigvalsh(unpacked(x[2:], 2)).min() > 0


PLANT = """
blocks:
  force: {type: CONSTANT, value: 0}
  swing: {type: FCN, expression: "-g/l*sin(a) - c*w + u", arguments: [a, w, u],
          params: {g: 9.81, l: 1, c: 0.1}}
  a: {type: INTEGRATOR, x0: 0.4}
  w: {type: INTEGRATOR, x0: -0.1}
  see: {type: FCN, expression: "sin(u)"}
wires: [force -> swing.u, w -> swing.w, a -> swing.a, swing -> w, w -> a, a -> see]
"""
RUN = """
clocks: {c: {T: 0.05}}
blocks:
  force: {type: WAVEFORM, wave: sine, freq: 0.3}
  swing: {type: FCN, expression: "-g/l*sin(a) - c*w + u", arguments: [a, w, u],
          params: {g: 9.81, l: 1, c: 0.1}}
  a: {type: INTEGRATOR, x0: 0.4}
  w: {type: INTEGRATOR, x0: -0.1}
  see: {type: FCN, expression: "sin(u)"}
  formulas: {type: EKF_S, clock: c, f: [w, "-g/l*sin(a) - c*w + u"], h: "l*sin(a)",
             states: [a, w], controls: [u], params: {g: 9.81, l: 1.0, c: 0.1}, Q: [0.01, 0.1],
             R: 0.02, P0: 0.5, x0: [0.4, -0.1]}
  own: {type: EKF_S, clock: c, plant: [a, w], controls: [swing.u], outputs: [see],
        Q: [0.01, 0.1], R: 0.02, P0: 0.5}
  other: {type: EKF_S, clock: c, model: plant.yaml, plant: [a, w], controls: [swing.u],
          outputs: [see], Q: [0.01, 0.1], R: 0.02, P0: 0.5}
wires: [force -> swing.u, w -> swing.w, a -> swing.a, swing -> w, w -> a, a -> see,
        "see -> formulas.y, own.y, other.y", "force -> formulas.u, own.u, other.u"]
run: {T: 2, every: 0.05, log: [formulas.x_hat, own.x_hat, other.x_hat, own.P]}
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "plant.yaml").write_text(PLANT)
    (tmp_path / "run.yaml").write_text(RUN)
    return tmp_path


def test_the_plant_of_a_diagram_is_that_of_its_formulas(files):
    native, other = (sb.simulate(files / "run.yaml", engine=e) for e in ("native", "interpreter"))
    assert native.info["engine"] == "native"
    for name in ("own.x_hat", "other.x_hat"):
        np.testing.assert_allclose(native[name], native["formulas.x_hat"], atol=1e-12)
        np.testing.assert_allclose(other[name], native[name], atol=1e-6)
    assert native["own.P"].shape == (41, 2, 2)


ARM = """
robots: {arm: {urdf: %s, base: fixed}}
clocks: {c: {rate: 50}}
blocks:
  tau: {type: WAVEFORM, wave: sine, freq: 0.5}
  taum: {type: FCN, expression: ["u", "0.3*u", "0.1*u"]}
  plant: {type: MULTIBODY, robot: arm, initial: {qm: [0.3, -0.2, 0.1]}}
  seen: {type: EKF_S, clock: c, plant: plant, outputs: [plant.qm], Q: 1e-4, R: 1e-6, P0: 0.04,
         x0: [0, 0, 0, 0, 0, 0]}
wires: [tau -> taum, taum -> plant.taum, taum -> seen.u, plant.qm -> seen.y]
run: {T: 1, every: 0.02, log: [plant.qm, plant.um, seen.x_hat]}
"""


def test_the_rates_of_an_arm_are_found_from_its_joints(tmp_path):
    from robots import ROOT

    text = (ROOT / "models/arm3.urdf").read_text()
    (tmp_path / "arm3.urdf").write_text(text)
    (tmp_path / "arm.yaml").write_text(ARM % "arm3.urdf")
    results = sb.simulate(tmp_path / "arm.yaml")
    state = np.hstack([results["plant.qm"], results["plant.um"]])
    off = np.abs(results["seen.x_hat"] - state)[15:].max()
    assert off < 0.02 * np.abs(state).max()  # u is held between ticks, the wave is not


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "it takes f, h and states"),
        ({"plant": "a"}, "outputs: name the signals"),
        ({**FORMULAS, "plant": "a", "outputs": "a"}, "not both"),
        ({**FORMULAS, "outputs": ["a"]}, "outputs is of a plant"),
        ({**FORMULAS, "f": ["x"]}, "f has 1 formulas, there are 2 states"),
        ({**FORMULAS, "f": ["x", "y"]}, "there is no 'y'"),
        ({**FORMULAS, "states": ["x", "x"]}, "states has x twice"),
        ({**FORMULAS, "controls": ["v"]}, "states and controls has v twice"),
        ({**FORMULAS, "states": ["t", "v"]}, "meaning of its own"),
        ({**FORMULAS, "params": {"Q": 1.0}}, "meaning of its own"),
        ({**FORMULAS, "h": []}, "h is a formula or a list"),
        ({**FORMULAS, "method": "euler"}, "method must be one of"),
        ({**FORMULAS, "steps": 0}, "steps must be a whole number"),
        ({**FORMULAS, "Q": [1.0, 2.0, 3.0]}, "Q has shape"),
        ({"plant": "a", "outputs": "a", "method": "none"}, "method none is for formulas"),
    ],
)
def test_wrong_parameters_are_refused(given, told):
    with pytest.raises((InputError, ValueError), match=told):
        made("EKF_S", CLOCK, **({"Q": 1.0, "R": 1.0, "P0": 1.0} | given))


def test_a_spread_of_nothing_is_refused():
    with pytest.raises(InputError, match="kappa must be above -2"):
        made("UKF_S", CLOCK, **FORMULAS, **NOISE, kappa=-2.0)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("plant: [a, w], controls: [swing.u], outputs: [see],\n", "plant: [b], outputs: [see],\n",
         r"run.yaml:13:.*own \(EKF_S\): plant: no block 'b'"),
        ("controls: [swing.u], outputs: [see],\n", "controls: [swing.v], outputs: [see],\n",
         "there is no input 'swing.v'"),
        ("controls: [swing.u], outputs: [see],\n", "controls: [swing.u], outputs: [sea],\n",
         "outputs: there is no signal 'sea'"),
        ("controls: [swing.u], outputs: [see],\n", "controls: [swing.a], outputs: [own.x_hat],\n",
         "depends on own, which is not known yet"),
        ("Q: [0.01, 0.1], R: 0.02, P0: 0.5}\n  other", "Q: [1, 2, 3], R: 0.02, P0: 0.5}\n  other",
         "Q has shape"),
    ],
)  # fmt: skip
def test_a_model_that_is_not_there_is_told_at_its_line(old, new, told, files):
    assert old in RUN
    (files / "run.yaml").write_text(RUN.replace(old, new))
    with pytest.raises(DiagramError, match=told):
        sb.simulate(files / "run.yaml")
