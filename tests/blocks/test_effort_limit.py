"""What of the forces asked of the joints acts, as a signal."""

from __future__ import annotations

import numpy as np
import pytest
import robots

import spart_blocks as sb

SLIDE = """
<robot name="rig">
  <link name="base"/>
  <link name="bar"><inertial><mass value="2"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="tip"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="slide" type="prismatic"><parent link="base"/><child link="bar"/>
    <axis xyz="1 0 0"/><limit lower="-3" upper="3" effort="10" velocity="5"/></joint>
  <joint name="turn" type="continuous"><parent link="bar"/><child link="tip"/>
    <axis xyz="0 0 1"/></joint>
</robot>
"""

RUN = """
robots:
  rig: {{urdf: rig.urdf, base: fixed{effects}}}
blocks:
  ask: {{type: WAVEFORM, wave: sine, freq: 1, amplitude: 20, unit: rad/s}}
  free: {{type: CONSTANT, value: 50}}
  both: {{type: MUX, nin: 2}}
  limit: {{type: EFFORT_LIMIT, robot: rig}}
  impulse: {{type: INTEGRATOR, x0: [0, 0]}}
wires: [ask -> both.0, free -> both.1, both -> limit.taum, limit -> impulse]
run: {{T: 2, log: [limit.tau], solver: {solver}}}
"""


@pytest.fixture
def diagram(tmp_path):
    def make(effects="", solver="RK45"):
        (tmp_path / "rig.urdf").write_text(SLIDE)
        path = tmp_path / "diagram.yaml"
        path.write_text(RUN.format(effects=effects, solver=solver))
        return path

    return make


@pytest.mark.parametrize("engine", ["native", "interpreter"])
@pytest.mark.parametrize("effects", ["", ", effects: [limits]"])
def test_it_gives_what_acts_whether_or_not_the_robot_has_the_effect(diagram, engine, effects):
    results = sb.simulate(diagram(effects), engine=engine)
    tau = results.at([0.1, 0.5, np.pi / 6 + 1e-3, 1.0])["limit.tau"]
    want = np.minimum(20 * np.sin([0.1, 0.5, np.pi / 6 + 1e-3, 1.0]), 10)
    assert np.abs(tau[:, 0] - want).max() < 20e-3  # lines are true to a thousandth of the range
    assert (results["limit.tau"][:, 1] == 50).all()  # without a limit all goes through
    assert results["limit.tau"][:, 0].max() == 10.0


def test_the_plant_accelerates_by_this_signal(diagram):
    robot = sb.load(diagram(", effects: [limits]")).robots["rig"]
    block = sb.new_diagram("one").EFFORT_LIMIT(robot=robot)
    rest = (np.eye(3), np.zeros(3), np.zeros(2), np.zeros(6), np.zeros(2), np.zeros(6))
    (acts,) = block.output(0.0, [np.array([25.0, -3.0])], None)
    assert acts.tolist() == [10.0, -3.0]
    none = robot.with_effects(())
    wanted = rates(acts, none, rest)
    assert np.abs(rates(np.array([25.0, -3.0]), robot, rest) - wanted).max() < 1e-12


def rates(taum, robot, rest):
    block = sb.new_diagram("one").MULTIBODY_RATES(robot=robot)
    R0, r0, qm, u0, um, tau0 = rest
    given = {"tau0": tau0, "taum": taum, "wF0": np.zeros(6), "wFm": np.zeros((2, 6)),
             "R0": R0, "r0": r0, "qm": qm, "u0": u0, "um": um}  # fmt: skip
    return block.output(0.0, [given[port.name] for port in block.in_ports], None)[1]


@pytest.mark.parametrize("solver", ["RK45", "RK4"])
def test_its_bend_is_located(diagram, solver):
    # 20 sin t is 10 at pi / 6.
    results = sb.simulate(diagram(solver=solver), max_step=0.3)
    assert results.unit("limit.tau") == "N m, N"
    impulse = 20 * (1 - np.cos(np.pi / 6)) + 10 * (2 - np.pi / 6)
    assert results["states.impulse"][-1, 0] == pytest.approx(impulse, rel=1e-5)
    assert np.abs(results.t - np.pi / 6).min() < 1e-9


def test_a_robot_without_limits_of_effort_lets_all_through():
    block = sb.new_diagram("one").EFFORT_LIMIT(robot=robots.random_robot(1, 3))
    asked = 1e6 * np.arange(1.0, block.robot.nu + 1)
    assert block.output(0.0, [asked], None)[0].tolist() == asked.tolist()
    assert block.watch(0.0, [asked], None) == []
