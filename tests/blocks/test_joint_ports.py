"""Blocks of robots with prescribed joints, stops and friction: ports, and what they give."""

import numpy as np
import pytest
import robots

import spart_blocks as sb

DIAGRAM = """
robots:
  arm: {{urdf: arm3.urdf, {extra}}}
blocks:
  swing: {{type: WAVEFORM, wave: sine, freq: 0.5, amplitude: {swing}}}
  push: {{type: CONSTANT, value: [1, 0.5, 0.2]}}
  plant: {{type: MULTIBODY, robot: arm, initial: {{qm: [0.3, 2.15, -0.4], um: [0.2, 0.1, 0.3]}}}}
  kin: {{type: KINEMATICS, robot: arm}}
  diff: {{type: DIFFKINEMATICS, robot: arm}}
  vel: {{type: VELOCITIES, robot: arm}}
  inertias: {{type: INERTIAS, robot: arm}}
  fd: {{type: FD_FIXED, robot: arm}}
  out: {{type: SCOPE}}
wires:
  - push -> plant.taum, fd.taum
{more}
  - plant.R0 -> kin.R0, diff.R0, inertias.R0
  - plant.r0 -> kin.r0, diff.r0
  - plant.qm -> kin.qm
  - plant.um -> vel.um, fd.um
  - plant.u0 -> vel.u0
  - kin.rL -> diff.rL
  - kin.e -> diff.e
  - kin.g -> diff.g
  - kin.RL -> inertias.RL
  - diff.Bij -> vel.Bij, fd.Bij
  - diff.Bi0 -> vel.Bi0, fd.Bi0
  - diff.P0 -> vel.P0
  - diff.pm -> vel.pm, fd.pm
  - vel.tL -> fd.tL
  - inertias.Im -> fd.Im
  - fd.umdot -> out
run: {{T: 0.2, log: [{log}]}}
"""


@pytest.fixture
def opened(tmp_path):
    """opened(extra, wires): the diagram above of an arm with these effects."""

    def make(extra, more=(), swing="[0.4]", log=""):
        path = tmp_path / "joints.yaml"
        (tmp_path / "arm3.urdf").write_text((robots.ROOT / "models" / "arm3.urdf").read_text())
        drives = (robots.ROOT / "models" / "arm3_drives.yaml").read_text()
        (tmp_path / "drives.yaml").write_text(drives)
        wires = "\n".join(f"  - {wire}" for wire in more)
        path.write_text(DIAGRAM.format(extra=extra, more=wires, swing=swing, log=log))
        return sb.load(path)

    return make


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_spart_s_forward_dynamics_is_the_plant_s_for_prescribed_joints_and_stops(opened, engine):
    # Motors without friction: SPART's function has no modes in which a joint sticks.
    diagram = opened(
        "drives: drives.yaml, effects: [motors, stops], kinematic: [j1]",
        ["swing -> plant.umdot_k, fd.umdot_k", "plant.qm -> fd.qm"],
        log="plant.umdot, plant.tau_k, fd.tau_k, plant.load",
    )
    results = sb.simulate(diagram, engine=engine)
    for ours, theirs in (("fd.umdot", "plant.umdot"), ("fd.tau_k", "plant.tau_k")):
        scale = np.abs(results[theirs]).max()
        np.testing.assert_allclose(results[ours], results[theirs], rtol=0, atol=1e-10 * scale)
    assert results["plant.load"][0, 1] > 1.0  # the second joint begins in its stop


def names(ports):
    return [port.name for port in ports]


def test_ports_are_there_where_joints_need_them(opened):
    bd = opened("effects: none").bd
    plant, fd = (next(b for b in bd.blocklist if b.name == n) for n in ("plant", "fd"))
    assert names(plant.in_ports) == ["taum", "wFm"]
    assert names(plant.out_ports)[-1] == "state"
    assert names(fd.out_ports) == ["umdot"]
    bd = opened(
        "drives: drives.yaml, effects: all, kinematic: [j3, j1]",
        ["swing -> plant.umdot_k, fd.umdot_k", "plant.qm -> fd.qm"],
        "[0.4, 0.1]",
    ).bd
    plant, fd = (next(b for b in bd.blocklist if b.name == n) for n in ("plant", "fd"))
    assert plant.in_ports[-1].name == "umdot_k"
    assert plant.in_ports[-1].shape == (2,)
    assert plant.out_ports[-1].name == "modes"
    assert plant.out_ports[-1].shape == (1,)  # the prescribed joints cannot stick
    assert plant.companion_outputs == ("u0dot", "umdot", "reaction", "tau_k", "load")
    assert names(fd.out_ports) == ["umdot", "tau_k"]


def test_a_wire_to_a_port_that_the_robot_gives_no_reason_for_is_refused(opened):
    with pytest.raises(sb.DiagramError, match=r"joints\.yaml:.*no port 'umdot_k' on plant"):
        opened("effects: all", ["swing -> plant.umdot_k", "plant.qm -> fd.qm"])


@pytest.mark.parametrize(
    ("extra", "says"),
    [
        ("kinematic: [j9]", r"joints\.yaml:3:.*j9"),
        ("effects: [frictoin]", r"joints\.yaml:3:.*frictoin"),
        ("drives: nowhere.yaml", r"joints\.yaml:3:.*nowhere"),
    ],
)
def test_wrong_joints_of_a_robot_are_refused_with_their_place(opened, extra, says):
    with pytest.raises(sb.DiagramError, match=says):
        opened(extra)
