"""CLOSED_CHAIN in runs: its start, its motion on both engines, and where its loops lose rank."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from closed_robots import four_bar, opening, spatial_bar

import spart_blocks as sb
from spart_blocks.base.errors import InputError, RunError
from spart_blocks.base.tableaus import EXPLICIT_STEP, RECOMMENDED
from spart_blocks.diagram import as_diagram
from spart_blocks.dynamics import actuated_map, assemble, loop_errors, loop_jacobian, row_names

TIGHT = {"rtol": 1e-9, "atol": 1e-11}
BOOKS = ["energy", "work", "p", "h", "p_balance", "h_balance", "energy_balance"]
KEPT = ["plant.qm", "plant.um", *(f"plant.audit.{name}" for name in BOOKS)]
BASE = {"mass": 3.0, "com": [0.1, 0, 0], "inertia": [0.1, 0.1, 0.1]}
FLOATS = {"um": {"A": 3.0}, "u0": [0.1, 0.2, 0.3, 0.1, 0.2, 0.3]}
ROBOTS = {
    "planar": (four_bar, {"qm": {"A": 0.9}, "um": {"A": 5.0}}),
    "spatial": (spatial_bar, {"um": {"A": 3.0}}),
    "floating": (lambda: four_bar(base=BASE), FLOATS),
}


@pytest.fixture
def programs(plant):
    """programs(name): a robot, and the program of its audited plant, traced once."""

    def get(name):
        if name not in _PROGRAMS:
            make, initial = ROBOTS[name]
            robot = make()
            _PROGRAMS[name] = robot, sb.trace(plant(robot, initial=initial, audit=True))
        return _PROGRAMS[name]

    return get


_PROGRAMS: dict = {}


@pytest.fixture
def plant(bdsim_runtime):
    """plant(robot, **arguments): a diagram of a closed chain with these inputs by name."""

    def make(robot, inputs=None, **arguments):
        bd = bdsim_runtime.blockdiagram(name="test")
        block = bd.CLOSED_CHAIN(robot, name="plant", **arguments)
        for k, port in enumerate(block.in_ports):
            if port.name in (inputs or {}):
                bd.connect(bd.CONSTANT(inputs[port.name], name=port.name), block[k])
        return bd

    return make


def block_of(bdsim_runtime, name, *arguments, **named):
    return bdsim_runtime._blocklibrary[name]["class"](*arguments, **named)


def started(bdsim_runtime, robot, **arguments):
    """The joint positions and rates at which a plant starts."""
    block = block_of(bdsim_runtime, "CLOSED_CHAIN", robot, **arguments)
    s = block.plant_state.split(np.asarray(block.getstate0()), block.base_pose)
    return s.qm, s.um


# --- motion -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ROBOTS)
def test_runs_keep_energy_and_close_every_loop_at_every_sample(name, programs):
    robot, program = programs(name)
    for solver in ("RK45", "CVODES"):
        results = sb.simulate(program, T=5.0, solver=solver, log=KEPT, **TIGHT)
        assert max(opening(robot, results["plant.qm"], results["plant.um"])) < 1e-13
        energy = results["plant.audit.energy"]
        assert np.ptp(energy) < 1e-6 * energy[0]


def test_a_floating_closed_chain_keeps_its_momentum(programs):
    results = sb.simulate(programs("floating")[1], T=3.0, log=KEPT, **TIGHT)
    for signal in ("plant.audit.p", "plant.audit.h"):
        assert np.ptp(results[signal], axis=0).max() < 2e-8


def test_samples_lie_on_the_loops_however_loose_the_solver(programs):
    robot, program = programs("planar")
    for solver in ("RK45", "LSODA", "CVODES"):
        results = sb.simulate(program, T=5.0, solver=solver, rtol=1e-4, log=KEPT)
        assert max(opening(robot, results["plant.qm"], results["plant.um"])) < 1e-9


def test_both_engines_run_alike(programs, plant):
    robot, program = programs("spatial")
    bd = plant(robot, initial=ROBOTS["spatial"][1])
    want = sb.simulate(bd, T=0.02, every=0.01, engine="interpreter", **TIGHT)
    got = sb.simulate(program, T=0.02, every=0.01, log=KEPT, **TIGHT)
    for signal in ("plant.qm", "plant.um"):
        assert np.abs(got[signal] - want[signal]).max() < 1e-9


def test_a_state_off_the_loops_is_put_back_at_the_start(programs):
    robot, program = programs("planar")
    off = program.parameter("plant.x0") + 1e-4
    results = sb.simulate(program.with_parameters({"plant.x0": off}), T=0.01, log=KEPT)
    assert max(opening(robot, results["plant.qm"][:1], results["plant.um"][:1])) < 1e-13
    with pytest.raises(InputError, match=r"is off by .* a closed chain its loops"):
        sb.simulate(program, T=0.01, initial={"plant": program.parameter("plant.x0") + 0.1})


def test_motors_springs_and_a_prescribed_crank_are_booked(plant):
    """What tau_k does is work: without it the balance of energy would drift."""
    spring = {"type": "spring", "parent": "ground", "child": "coupler", "stiffness": 40.0,
              "parent_point": [0.1, 0.6, 0], "child_point": [0.3, 0, 0], "free_length": 0.2,
              "damping": 0.1}  # fmt: skip
    motor = {"type": "torque", "joint": "C", "port": "drive"}
    robot = four_bar(prescribed=["A"], forces={"spring": spring, "motor": motor})
    given = {"umdot_k": np.array([2.0]), "drive": np.array([0.8])}
    bd = plant(robot, given, initial={"um": {"A": 1.0}}, audit=True)
    results = sb.simulate(bd, T=1.0, log=KEPT, **TIGHT)
    assert np.abs(results["plant.um"][:, 0] - (1.0 + 2.0 * results.t)).max() < 1e-12
    assert np.ptp(results["plant.audit.work"]) > 0.1
    for book in ("energy_balance", "p_balance", "h_balance"):
        assert np.ptp(results[f"plant.audit.{book}"], axis=0).max() < 1e-6


def test_a_port_of_the_robot_has_a_name_of_its_own(bdsim_runtime):
    forces = {"motor": {"type": "torque", "joint": "A", "port": "um"}}
    with pytest.raises(InputError, match="'um' of its own"):
        started(bdsim_runtime, four_bar(forces=forces))


def test_a_joint_with_coulomb_friction_sticks_in_a_loop(plant):
    robot = four_bar().with_drives({"joints": {"A": {"coulomb": 0.5}}})
    pushed = {"taum": np.array([0.3, 0.0, 0.0])}
    bd = plant(robot, pushed, initial={"um": {"A": 1.0}})
    results = sb.simulate(bd, T=2.0, log=KEPT[:2])
    assert [event.what for event in results.events] == ["joint 'A' sticks"]
    assert np.abs(results["plant.um"][-1]).max() < 1e-12
    assert max(opening(robot, results["plant.qm"], results["plant.um"])) < 1e-9


@pytest.mark.parametrize("share", [0.99, -0.99, 1.01, -1.01])
def test_joints_that_stick_on_one_freedom_hold_together(share, plant):
    """The loop breaks away where the torque exceeds the friction of all three joints, as the
    one freedom feels it; until then it stands, however they share it."""
    coulomb = {"A": 1.0, "B": 0.3, "C": 0.05}
    drives = {name: {"coulomb": friction} for name, friction in coulomb.items()}
    robot = four_bar().with_drives({"joints": drives})
    ratios = actuated_map(assemble(robot).qm, robot, [0])[:, 0]
    friction = np.array([coulomb[name] for name in robot.active_joints])
    torque = share * friction @ np.abs(ratios)
    results = sb.simulate(plant(robot, {"taum": np.array([torque, 0.0, 0.0])}), T=0.1, log=KEPT[:2])
    assert (np.abs(results["plant.um"][-1, 0]) > 1e-4) == (abs(share) > 1)


def test_a_loop_whose_joints_all_have_friction_comes_to_rest(plant):
    drives = {name: {"coulomb": 0.3 if name == "A" else 1.0} for name in "ABC"}
    robot = four_bar().with_drives({"joints": drives})
    pushed = {"taum": np.array([0.3, 0.0, 0.0])}
    results = sb.simulate(plant(robot, pushed, initial={"um": {"A": 2.0}}), T=1.0, log=KEPT[:2])
    assert np.abs(results["plant.um"][-1]).max() < 1e-12


@pytest.mark.parametrize("coupler", [1.0, 0.0])
def test_masses_stay_parameters_of_the_program(coupler, plant):
    """Also where the tree's own inertia is singular, for its coupler has no mass."""
    factors, robot = np.array([1.0, 2.0, 3.0, 1.0]), four_bar()
    mass, inertia = (np.array(values) for values in robot.matter)
    at = next(link.id for link in robot.links if link.name == "coupler")
    mass[at], inertia[at] = coupler, coupler * inertia[at]
    robot = robot.with_matter(mass, inertia)
    heavy = robot.with_matter(mass * factors, inertia)
    diagram = as_diagram(plant(robot, initial={"um": {"A": 3.0}}))
    tunable = replace(diagram, robots={"bar": robot}, tunable=("bar.mass",))
    program = sb.trace(tunable)
    p = program.with_parameters({"bar.mass": robot.matter[0] * factors}).p
    built = sb.trace(plant(heavy, initial={"um": {"A": 3.0}}))
    want, light, got = (
        np.array(each.rates(0, program.x0, [], p), dtype=float)
        for each, p in ((built, built.p), (program, program.p), (program, p))
    )
    assert np.isfinite(want).all()
    assert not np.allclose(got, light, rtol=1e-3)
    assert np.allclose(got, want, rtol=1e-10)


# --- the start ------------------------------------------------------------------------------


def test_joints_that_are_named_stay_and_the_others_close_the_loops(bdsim_runtime):
    robot = four_bar()
    qm, um = started(bdsim_runtime, robot, initial={"qm": {"A": 1.1}, "um": {"C": 2.0}})
    assert (qm[0], um[robot.active_joints.index("C")]) == (1.1, 2.0)
    assert max(opening(robot, [qm], [um])) < 1e-12


def test_a_list_of_joints_to_hold_takes_the_place_of_those_named(bdsim_runtime):
    robot = four_bar()
    given = {"qm": {"A": 1.0, "C": 1.0}, "hold": ["C"]}
    qm, _ = started(bdsim_runtime, robot, initial=given)
    assert qm[robot.active_joints.index("C")] == 1.0
    assert qm[0] != 1.0
    assert np.abs(loop_errors(qm, robot, True)).max() < 1e-12


def test_of_a_vector_nothing_is_held(bdsim_runtime):
    robot, rates = four_bar(), np.array([1.0, 0.0, 0.0])
    near = np.add(robot.home, [0.01, -0.02, 0.03])
    qm, um = started(bdsim_runtime, robot, initial={"qm": near, "um": rates})
    assert (np.abs(qm - near) > 1e-6).all()
    assert max(opening(robot, [qm], [um])) < 1e-12
    # The nearest rates: what is taken away opens the loops.
    J = loop_jacobian(qm, robot)
    assert np.linalg.matrix_rank(np.vstack([J, rates - um]), tol=1e-9) == len(J)


@pytest.mark.parametrize(
    ("initial", "text"),
    [
        ({"qm": {"A": 1.0, "C": 0.2}}, "loop 'D' cannot close while A, C stay"),
        ({"um": {"A": 1.0, "C": -5.0}}, "cannot move with the rates of A, C"),
        ({"hold": ["a"]}, "hold: no active joint 'a'"),
        ({"hold": "A"}, "hold is a list of joints"),
        ({"qm": {"Z": 1.0}}, "no active joint 'Z'"),
    ],
)
def test_a_start_that_cannot_be_is_refused(initial, text, bdsim_runtime):
    with pytest.raises(InputError, match=text):
        started(bdsim_runtime, four_bar(), initial=initial)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"singular": "go"}, "must be one of stop, damp"),
        ({"damping": 0}, "above 0"),
        ({"audit": 1}, "true or false"),
        ({"integrator": "euler"}, "must be one of solver, variational"),
    ],
)
def test_parameters_that_cannot_be_are_refused(arguments, text, bdsim_runtime):
    with pytest.raises(InputError, match=text):
        started(bdsim_runtime, four_bar(), **arguments)


@pytest.mark.parametrize("block", ["MULTIBODY", "MULTIBODY_RATES"])
def test_a_plant_of_open_robots_refuses_one_with_loops(block, bdsim_runtime):
    with pytest.raises(InputError, match="use CLOSED_CHAIN"):
        block_of(bdsim_runtime, block, four_bar())


# --- where the loops lose rank ---------------------------------------------------------------


@pytest.fixture
def parallelogram(plant):
    """parallelogram(**arguments): one whose crank turns at 5 rad/s, free of forces."""

    def make(**arguments):
        robot = four_bar(0.2, 0.45, 0.2, 0.45)
        return plant(robot, initial={"qm": {"A": 0.9}, "um": {"A": 5.0}}, **arguments)

    return make


METHODS = {
    "RK45": {"rtol": 1e-3},
    "RK4": {"max_step": 0.3},
    "CVODES": {},
    "BDF": {},
    "LSODA": {},
}


def test_a_parallelogram_stops_where_it_is_flat_whatever_the_steps(parallelogram):
    program = sb.trace(parallelogram())
    for solver, options in METHODS.items():
        with pytest.raises(RunError, match=r"block plant: .* lose rank") as caught:
            sb.simulate(program, T=2.0, solver=solver, **options)
        assert abs(caught.value.time - (np.pi - 0.9) / 5.0) < 1e-3


@pytest.mark.parametrize("engine", ["interpreter", "native"])
def test_a_run_tells_which_row_and_joints_have_lost_rank(engine, plant):
    bd = plant(four_bar(0.2, 0.45, 0.2, 0.45), initial={"qm": {"A": 3.13}, "um": {"A": 5.0}})
    text = "block plant: its loops lose rank: .*D.x follows from the other rows, and A, C, B can"
    with pytest.raises(RunError, match=text):
        sb.simulate(bd, T=0.02, engine=engine)


def test_a_start_at_a_loss_of_rank_is_no_start(plant):
    bd = plant(four_bar(0.2, 0.45, 0.2, 0.45), initial={"qm": [0.0, 0.0, 0.0]})
    with pytest.raises(RunError, match="lose rank"):
        sb.simulate(bd, T=0.1, engine="interpreter")


def test_damped_it_passes_its_flat_poses(parallelogram):
    program = sb.trace(parallelogram(singular="damp"))
    for solver in ("RK45", "RK4"):
        results = sb.simulate(program, T=5.0, solver=solver)
        crank, rocker, coupler = results["plant.qm"][-1]
        assert crank > 3 * np.pi
        assert np.abs([crank + coupler, crank - rocker]).max() < 1e-3


@pytest.mark.parametrize(
    "options",
    [
        *({"solver": s} for s in ("DOP853", "RK23", "Radau", "BDF", "LSODA", "CVODES", "Adams")),
        {"solver": "RK45", "rtol": 1e-8},
        {"rtol": 1e-8},
        {"solver": "Rodas3", "max_step": 0.001},
    ],
)
def test_solvers_that_do_not_come_through_flat_poses_are_refused(parallelogram, options):
    program = sb.trace(parallelogram(singular="damp"))
    with pytest.raises(
        InputError, match=r"plant has singular: damp, and solver .*energy"
    ) as caught:
        sb.simulate(program, T=5.0, **options)
    message = str(caught.value)
    assert f"RK45}} with an rtol of 1e-06 or more, or fixed steps: {RECOMMENDED}, " in message
    assert set(EXPLICIT_STEP) == set(re.findall(r"\w+", message.partition("fixed steps: ")[2]))


@pytest.mark.parametrize("options", [{}, {"solver": "RK4"}, {"solver": "heun", "max_step": 1e-3}])
@pytest.mark.parametrize("compiler", ["found", "none"])
def test_solvers_that_are_not_refused_hold_the_energy(
    parallelogram, options, compiler, monkeypatch
):
    monkeypatch.setenv("SPART_COMPILER", "none") if compiler == "none" else None
    program = sb.trace(parallelogram(singular="damp", audit=True))
    results = sb.simulate(program, T=3.0, **options)
    energy = results["plant.audit.energy"]
    assert np.ptp(energy) < 1e-5 * energy[0]
    # Free of forces, its bars all alike, it turns evenly.
    assert np.abs(results["plant.qm"][:, 0] - 0.9 - 5.0 * results.t).max() < 1e-3


# --- the loops as blocks -----------------------------------------------------------------------


def test_the_blocks_of_loops_agree_with_finite_differences(bdsim_runtime):
    robot, rng = spatial_bar(), np.random.default_rng(1)
    q, u, h = (
        robot.integrate(robot.home, rng.normal(scale=0.1, size=robot.nu)),
        rng.normal(size=robot.nu),
        1e-5,
    )
    errors = block_of(bdsim_runtime, "LOOP_ERROR", robot)
    block = block_of(bdsim_runtime, "LOOP_JACOBIAN", robot, derivative=True)
    back, forth = (robot.integrate(q, s * h * u) for s in (-1, 1))
    error, rate = errors.output(0.0, [q, u], None)
    assert error.shape == rate.shape == (len(row_names(robot)),)
    ends = [errors.output(0.0, [x, u], None)[0] for x in (back, forth)]
    assert np.allclose((ends[1] - ends[0]) / (2 * h), rate, atol=1e-8)
    J, bias, Jdot = block.output(0.0, [q, u], None)
    ends = [block.output(0.0, [x, u], None)[0] for x in (back, forth)]
    assert np.allclose((ends[1] - ends[0]) / (2 * h), Jdot, atol=1e-8)
    assert np.allclose(J @ u, rate)
    assert np.allclose(Jdot @ u, bias)
    with pytest.raises(InputError, match="has no loops"):
        block_of(bdsim_runtime, "LOOP_ERROR", sb.Robot.from_urdf("models/arm3.urdf"))


# --- analysis --------------------------------------------------------------------------------


def test_trim_and_a_regulator_find_where_a_spring_of_a_loop_rests(plant):
    """The pull that keeps the loops closed keeps the search for a point at rest on them."""
    forces = {
        "spring": {"type": "joint", "joint": "A", "stiffness": 5.0, "rest": 0.9},
        "motor": {"type": "torque", "joint": "A", "port": "drive"},
    }
    robot = four_bar(forces=forces)
    bd = plant(robot, {"drive": np.zeros(1)}, initial={"qm": {"A": 0.7}})
    found = sb.trim(bd, unknowns=["plant.qm"])
    rest = found.values["plant.qm"]
    assert abs(rest[0] - 0.9) < 1e-9
    assert np.abs(loop_errors(rest, robot, True)).max() < 1e-9
    gain = sb.lqr(bd, plant="plant", inputs=["plant.drive"], Q=1.0, R=1.0)
    assert gain.K.shape == (1, 6)
    assert (gain.poles.real < 0).all()
