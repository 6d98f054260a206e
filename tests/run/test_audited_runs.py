"""A plant's audit keeps the books of its robot in every run, and shows a wrong plant."""

from __future__ import annotations

import numpy as np
import pytest
import robots

import spart_blocks as sb
from spart_blocks.base.errors import RunError
from spart_blocks.blocks import multibody
from spart_blocks.results import Results
from spart_blocks.run.engines.native import Native
from spart_blocks.run.states import vectors_of

MODELS = (robots.ROOT / "models").as_posix()
SIGNALS = [
    f"plant.audit.{name}"
    for name in ("p", "h", "energy", "work", "p_balance", "h_balance", "energy_balance")
]
TIGHT = {"rtol": 1e-10, "atol": 1e-12}

# A free-flyer that turns and drifts, with forces on everything that takes one.
PUSHED = f"""
robots: {{sc: {{urdf: {MODELS}/spacecraft_3dof.urdf, base: floating}}}}
blocks:
  taum: {{type: WAVEFORM, freq: 0.5, amplitude: [0.3, 0.5, -0.2]}}
  tau0: {{type: CONSTANT, value: [0.5, -0.3, 0.4, 2, -1, 3]}}
  wF0: {{type: CONSTANT, value: [0.4, 0.2, -0.5, 1, 2, -2]}}
  weight: {{type: GRAVITY, robot: sc, gravity: [0.01, 0.02, -0.03]}}
  plant:
    type: MULTIBODY
    robot: sc
    audit: true
    initial:
      r0: [0.2, 0.1, -0.3]
      angles321: [0.3, -0.4, 0.5]
      qm: [0.3, -0.5, 0.8]
      u0: [0.1, -0.2, 0.15, 0.02, 0.0, -0.01]
      um: [0.1, -0.2, 0.1]
wires:
  - taum -> plant.taum
  - tau0 -> plant.tau0
  - wF0 -> plant.wF0
  - weight.wFm -> plant.wFm
run: {{T: 3, rtol: 1.0e-10, atol: 1.0e-12}}
"""
ARM = f"""
robots: {{arm: {{urdf: {MODELS}/arm7.urdf, base: fixed}}}}
blocks:
  weight: {{type: GRAVITY, robot: arm, gravity: [0, 0, -9.81]}}
  taum: {{type: CONSTANT, value: [1, 0.5, 0, -0.5, 0, 0.1, 0]}}
  plant: {{type: MULTIBODY, robot: arm, audit: true, initial: {{qm: [0, 1, 0, 0.5, 0, 0, 0]}}}}
wires: [weight.wFm -> plant.wFm, taum -> plant.taum]
run: {{T: 1, rtol: 1.0e-10, atol: 1.0e-12}}
"""


def drift(results, quantity, block="plant.audit"):
    """How far a balance moves, relative to the largest of what it balances."""
    balance = results[f"{block}.{quantity}_balance"]
    names = ("energy", "work") if quantity == "energy" else (quantity,)
    scale = max(np.abs(results[f"{block}.{name}"]).max() for name in names)
    return np.abs(balance - balance[0]).max() / scale


def drifts(results):
    return {name: drift(results, name) for name in ("p", "h", "energy")}


@pytest.fixture
def file(tmp_path):
    """file(text): a file with this text, in a project of its own."""

    def made(text):
        path = tmp_path / "diagram.yaml"
        path.write_text(text)
        return path

    return made


@pytest.fixture
def opened(file):
    """opened(text): the diagram of a text that may read the repository's models."""
    return lambda text: sb.load(file(text), root="/")


@pytest.fixture
def simulate():
    """simulate(bd, ...) on the native engine; a test of its own compares the books of both."""
    return lambda bd, **options: sb.simulate(bd, engine="native", **options)


@pytest.mark.filterwarnings("ignore:joints do not keep their limits")  # the arm falls
@pytest.mark.parametrize("text", [PUSHED, ARM], ids=["floating", "fixed"])
def test_the_books_balance_and_are_kept_unasked(opened, simulate, text):
    results = simulate(opened(text))
    assert list(results.signals) == SIGNALS
    assert results["plant.audit.p"].shape == (len(results.t), 3)
    assert results["plant.audit.energy"].shape == results.t.shape
    assert max(drifts(results).values()) < 1e-8
    for name in ("p", "h", "energy", "work"):  # forces and ground do act
        assert np.ptp(results[f"plant.audit.{name}"], axis=0).max() > 0.1


def test_momentum_is_the_impulse_of_a_constant_force_from_rest(opened, simulate):
    text = PUSHED.split("    initial:")[0] + "wires: [taum -> plant.taum, tau0 -> plant.tau0]\n"
    results = simulate(opened(text), T=2, **TIGHT)
    impulse = np.outer(results.t, [2, -1, 3])
    assert np.abs(results["plant.audit.p"] - impulse).max() < 1e-9 * impulse.max()


def test_an_audit_is_the_same_as_one_wired_by_hand(opened, simulate, close):
    wires = [f"plant.{name} -> mine.{name}" for name in ("R0", "r0", "qm", "u0", "um")]
    wires += [f"{name} -> mine.{name}" for name in ("taum", "tau0", "wF0")]
    text = PUSHED.replace("  plant:\n", "  mine: {type: AUDIT, robot: sc}\n  plant:\n")
    text = text.replace("run:", "".join(f"  - {wire}\n" for wire in wires) + "run:")
    text = text.replace("weight.wFm ->", "weight.wFm -> mine.wFm,")
    results = simulate(opened(text), T=1, every=0.01)
    for name in SIGNALS:
        mine = results[name.replace("plant.audit", "mine")]
        close(results[name], mine, name)


def test_both_engines_keep_the_same_books(opened):
    native, interpreted = (
        sb.simulate(opened(PUSHED), engine=engine, every=0.01)
        for engine in ("native", "interpreter")
    )
    for name in SIGNALS:
        scale = np.abs(interpreted[name]).max()
        assert np.abs(native[name] - interpreted[name]).max() < 1e-9 * scale, name


def test_the_books_of_each_row_are_those_of_its_states(opened, simulate):
    # The rows are chosen without them: they are evaluated where a row is kept.
    program = sb.trace(opened(PUSHED + "clocks: {slow: {T: 0.1}}\n"))
    results = simulate(program)
    engine = Native(program)
    x, xd = vectors_of(engine, results.states, len(results.t))
    books = engine.over(SIGNALS, results.t, x, xd)
    for name, expected in zip(SIGNALS, books, strict=True):
        np.testing.assert_allclose(results[name], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # which NumPy tells too
@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_a_book_without_a_number_is_named(opened, engine):
    # A speed whose square is beyond all numbers.
    fast = PUSHED.replace("u0: [0.1, -0.2, 0.15, 0.02,", "u0: [0, 0, 0, 1.0e+160,")
    with pytest.raises(RunError, match=r"plant\.audit.*not finite"):
        sb.simulate(opened(fast), engine=engine)


def test_the_plant_moves_as_without_an_audit(opened, simulate):
    with_audit = simulate(opened(PUSHED), every=0.03)
    without = simulate(opened(PUSHED.replace("    audit: true\n", "")), every=0.03)
    assert not without.signals
    for name in ("R0", "r0", "qm", "u0", "um"):
        difference = np.abs(with_audit[f"plant.{name}"] - without[f"plant.{name}"]).max()
        assert difference < 1e-8, name


def test_a_body_without_joints_is_audited(simulate, diagram, wire):
    inertia = np.array([[3, 0.1, 0.2], [0.1, 4, -0.3], [0.2, -0.3, 5]])
    body = robots.BaseLink("body", np.eye(4), 10.0, inertia)
    bd = diagram()
    start = {"u0": [0.4, 0.3, -0.5, 0.1, 0, 0], "r0": [1, 2, 3]}
    bd.MULTIBODY(robots.Robot("body", (), (), body), initial=start, audit=True, name="plant")
    bd.CONSTANT(np.array([0.1, 0.2, -0.1, 1, 2, 3]), name="tau0")
    wire(bd, "tau0 -> plant.tau0")
    results = simulate(bd, T=2, **TIGHT)
    assert max(drifts(results).values()) < 1e-9
    w, h = results["plant.u0"][0, :3], results["plant.audit.h"][0]
    np.testing.assert_allclose(h, inertia @ w + np.cross([1, 2, 3], [1, 0, 0]), rtol=1e-15)


def test_a_diagram_made_in_python_is_audited_and_twice_too(simulate, diagram, wire):
    bd = diagram()
    robot = robots.golden_robot("spart_sc_3dof")
    bd.MULTIBODY(robot, audit=True, name="plant")
    bd.CONSTANT(np.array([0.1, 0.2, -0.1]), name="taum")
    wire(bd, "taum -> plant.taum")
    first, second = (simulate(bd, T=1) for _ in range(2))
    assert list(first.signals) == SIGNALS
    np.testing.assert_array_equal(first["plant.audit.work"], second["plant.audit.work"])
    assert first["plant.audit.work"][-1] > 1e-3


def test_the_audit_of_a_plant_in_a_subsystem_is_kept(opened, simulate):
    head = PUSHED.split("blocks:\n")[0]
    text = f"""{head}
subsystems:
  craft:
    inputs: [tau]
    outputs: [qm]
    blocks: {{plant: {{type: MULTIBODY, robot: sc, audit: true}}}}
    wires: [in.tau -> plant.taum, plant.qm -> out.qm]
blocks: {{tau: {{type: CONSTANT, value: [0.1, 0.2, -0.1]}}, a: {{type: craft}}, b: {{type: craft}}}}
wires: [tau -> a.tau, tau -> b.tau]
run: {{T: 1}}
"""
    results = simulate(opened(text))
    assert list(results.signals) == [f"{name}/{signal}" for name in "ab" for signal in SIGNALS]
    assert drift(results, "energy", "b/plant.audit") < 1e-5
    assert results["b/plant.audit.work"][-1] > 1e-3


def test_a_program_alone_and_one_from_the_cache_keep_the_books(file, tmp_path, monkeypatch):
    monkeypatch.setenv("SPART_CACHE", str(tmp_path / "cache"))
    (tmp_path / "sc.urdf").write_bytes((robots.ROOT / "models/spacecraft_3dof.urdf").read_bytes())
    path = file(PUSHED.replace(f"{MODELS}/spacecraft_3dof.urdf", "sc.urdf"))
    made, cached = sb.simulate(path), sb.simulate(path)
    alone = sb.simulate(sb.trace(path))
    for results in (made, cached, alone):
        assert list(results.signals) == SIGNALS
        np.testing.assert_array_equal(
            results["plant.audit.h_balance"], made["plant.audit.h_balance"]
        )


def test_the_books_go_on_where_a_run_ended(opened, simulate, tmp_path):
    diagram = opened(PUSHED)
    whole, half = simulate(diagram, T=1.0), simulate(diagram, T=0.5)
    half.save(tmp_path / "half.npz")
    rest = simulate(diagram, T=1.0, initial=Results.load(tmp_path / "half.npz"))
    for name in SIGNALS:
        scale = np.abs(whole[name]).max()
        assert np.abs(rest[name][-1] - whole[name][-1]).max() < 1e-8 * scale, name


def test_a_robot_with_tunable_masses_is_audited_with_them(opened):
    program = sb.trace(opened(PUSHED + "tunable: [sc.mass, sc.inertia]\n"))
    heavier = program.with_parameters({"sc.mass": 1.5 * program.parameter("sc.mass")})
    results = sb.simulate(heavier)
    assert max(drifts(results).values()) < 1e-8
    ratio = results["plant.audit.p"][0] / sb.simulate(program)["plant.audit.p"][0]
    np.testing.assert_allclose(ratio, 1.5, rtol=1e-12)


RATES = multibody.hybrid_rates


def torque_sign(R0, u0, qm, um, tau0, taum, wF0, wFm, robot, *more):
    return RATES(R0, u0, qm, um, tau0, -taum, wF0, wFm, robot, *more)


def force_in_base_axes(R0, u0, qm, um, tau0, taum, wF0, wFm, robot, *more):
    turned = np.concatenate([wF0[:3], R0 @ wF0[3:]])
    return RATES(R0, u0, qm, um, tau0, taum, turned, wFm, robot)


def torque_in_inertial_axes(R0, u0, qm, um, tau0, taum, wF0, wFm, robot, *more):
    turned = np.concatenate([R0.T @ tau0[:3], tau0[3:]])
    return RATES(R0, u0, qm, um, turned, taum, wF0, wFm, robot, *more)


def acceleration_in_base_axes(*arguments):
    rates, R0 = RATES(*arguments), arguments[0]
    return rates._replace(u0dot=np.concatenate([rates.u0dot[:3], R0.T @ rates.u0dot[3:]]))


def coriolis_dropped(R0, u0, qm, um, *forces):
    return RATES(R0, 0 * u0, qm, 0 * um, *forces)


@pytest.mark.parametrize(
    ("wrong", "shows"),
    [
        (torque_sign, ["energy"]),
        (force_in_base_axes, ["p", "h", "energy"]),
        (torque_in_inertial_axes, ["h", "energy"]),
        (acceleration_in_base_axes, ["p", "h", "energy"]),
        (coriolis_dropped, ["p", "h", "energy"]),
    ],
    ids=lambda case: getattr(case, "__name__", None),
)
def test_a_wrong_plant_shows_in_the_balances(opened, simulate, monkeypatch, wrong, shows):
    monkeypatch.setattr(multibody, "hybrid_rates", wrong)
    found = drifts(simulate(opened(PUSHED)))
    assert [name for name, value in found.items() if value > 1e-3] == shows
    assert all(value < 1e-8 for name, value in found.items() if name not in shows)
