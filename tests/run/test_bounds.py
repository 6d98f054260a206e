"""Joints that leave their limits, and IK that does not reach its pose, are told once a run."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import SpartWarning

# A slider of 2 kg and a turning bar beside it, each with limits of all kinds.
ROBOT = """<robot name="rig">
  <link name="ground"/>
  {slide}
  {turn}
</robot>"""
LINK = """<link name="{name}"><inertial><mass value="2"/>
    <inertia ixx="0.5" iyy="0.5" izz="0.5" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="{joint}" type="{kind}"><parent link="ground"/><child link="{name}"/>
    <axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="10" velocity="5"/></joint>"""
DIAGRAM = """
robots:
  rig: {{urdf: rig.urdf, base: fixed{effects}}}
blocks:
  push: {{type: CONSTANT, value: {torque}}}
  plant: {{type: MULTIBODY, robot: rig, audit: true}}
wires: [push -> plant.taum]
run: {{T: {T}, rtol: 1.0e-8, atol: 1.0e-10}}
"""


@pytest.fixture
def rig(tmp_path):
    """rig(...): the path of a diagram that pushes both joints with constant forces."""
    slide = LINK.format(name="car", joint="slide", kind="prismatic")
    turn = LINK.format(name="bar", joint="turn", kind="revolute")
    (tmp_path / "rig.urdf").write_text(ROBOT.format(slide=slide, turn=turn))

    def make(torque=(0.0, 0.0), T=1.0, effects=""):
        text = DIAGRAM.format(torque=list(torque), T=T, effects=effects and f", effects: {effects}")
        path = tmp_path / "rig.yaml"
        path.write_text(text)
        return path

    return make


@pytest.fixture(params=["native", "cached", "program", "interpreter", "RK4", "CVODES"])
def told(request):
    """told(path): the results of a run, and its warnings, on one of the ways to run it."""
    way = request.param

    def run(path):
        options = {"solver": way, "max_step": 0.01} if way == "RK4" else {}
        options |= {"solver": way} if way == "CVODES" else {}
        diagram = sb.trace(path) if way == "program" else path
        engine = "interpreter" if way == "interpreter" else "auto"
        for _ in range(2 if way == "cached" else 1):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                results = sb.simulate(diagram, engine=engine, **options)
        return results, [str(w.message) for w in caught if w.category is SpartWarning]

    return run


def test_a_joint_that_leaves_its_position_is_told_with_time_and_limit(rig, told):
    # 0.5 N m on 0.5 kg m^2 (the bar's, about its own axis): q = t^2 / 2, 3 rad at 2.449 s.
    results, words = told(rig([0, 0.5], T=4))
    (text,) = words
    line = text.splitlines()[0]
    assert line.startswith("joints do not keep their limits: turn of plant passes its position")
    assert "limit of 3 rad at t = " in line
    assert ", and goes to 8" in line
    time = float(line.split("at t = ")[1].split(" s")[0])
    assert abs(time - np.sqrt(6)) < 0.004  # rows are true to a thousandth of the range
    assert "slide" not in text
    assert text.splitlines()[1] == (
        "  give the robot effects: [limits] to let them act, or other commands or limits"
    )
    assert results["plant.qm"][-1, 1] == pytest.approx(8, rel=1e-6)


def test_effort_and_velocity_are_told_beside_it(rig, told):
    _, (text,) = told(rig([-12, 0], T=1))
    told = "slide of plant passes its effort limit of -10 N at t = 0 s, and goes to -12"
    assert told in text
    assert "slide of plant passes its velocity limit of -5 m/s at t = 0.8" in text
    assert "m/s at t = 0.8" in text


def test_within_the_limits_nothing_is_said(rig, told):
    _, words = told(rig([5, -1], T=1))
    assert not words


@pytest.mark.parametrize("effects", ["limits", "[limits]"])
def test_with_the_effect_the_limits_act(rig, told, effects):
    # 12 N are 10: v = 5 t, x = 2.5 t^2, kept from 3 m by a stop.
    results, words = told(rig([12, 0], T=0.9, effects=effects))
    assert not words
    assert results["plant.um"][-1, 0] == pytest.approx(4.5, rel=1e-6)
    assert np.ptp(results["plant.audit.energy_balance"]) < 1e-6  # the work of 10 N, not of 12


def test_a_joint_driven_into_its_limit_stays_there(rig):
    path = rig([1, 0.2], T=20, effects="[limits]")
    results = sb.simulate(path)
    # Stops of 200 rad/s give way by F / (m w^2), 1.25e-5 m, and by what is left of bouncing.
    assert results["plant.qm"].max() < 3.03
    assert np.abs(results["plant.qm"][-1] - 3).max() < 1e-3


def test_an_effect_of_limits_brings_stops(rig):
    robot = sb.load(rig(effects="[limits]")).robots["rig"]
    assert robot.effects == ("stops", "limits")
    assert sb.load(rig(effects="all")).robots["rig"].effects == ("motors", "friction", "stops")


IK = """
robots:
  arm: {{urdf: {urdf}, base: fixed}}
blocks:
  rd: {{type: CONSTANT, value: {goal}}}
  R0: {{type: CONSTANT, value: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}}
  r0: {{type: CONSTANT, value: [0, 0, 0]}}
  ik:
    {{type: IK, robot: arm, frame: bar, q0: [0.1, 0.1], components: [vz], clock: c,
     iterations: 10}}
clocks: {{c: {{T: 0.1}}}}
wires: [rd -> ik.rd, R0 -> ik.R0, r0 -> ik.r0]
run: {{T: 1, log: [ik.qm]}}
"""


def test_a_pose_out_of_reach_is_told_with_block_time_and_residual(tmp_path, told):
    slide = LINK.format(name="car", joint="slide", kind="prismatic")
    turn = LINK.format(name="bar", joint="turn", kind="revolute").replace(
        '<parent link="ground"/>', '<parent link="car"/>'
    )
    (tmp_path / "chain.urdf").write_text(ROBOT.format(slide=slide, turn=turn))
    path = tmp_path / "ik.yaml"
    path.write_text(IK.format(urdf="chain.urdf", goal=[0, 0, 4]))
    _, (text,) = told(path)
    assert text.startswith("ik (IK) does not reach its pose: from t = 0 s it is off by 1 m")
    path.write_text(IK.format(urdf="chain.urdf", goal=[0, 0, 2]))
    assert told(path)[1] == []
