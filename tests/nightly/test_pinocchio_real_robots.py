"""Every robot of example-robot-data, against Pinocchio reading the same structure.

Run on demand: pip install example-robot-data, or put it on PYTHONPATH with
pip install --target DIR example-robot-data --no-deps.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import robots
from pinocchio_twin import Twin

from spart_blocks.base.errors import RobotError, SpartWarning
from spart_blocks.dynamics import (
    fixed_forward_dynamics,
    multibody_forces,
    multibody_inertia,
    multibody_rates,
)
from spart_blocks.robot import JointType, Robot


def folders():
    """Where the package keeps its robots: beside the module, in a cmeel prefix."""
    spec = find_spec("example_robot_data")
    roots = [Path(spec.origin).parent] if spec and spec.origin else []
    roots += [Path(entry) for entry in sys.path if entry]
    for root in roots:
        for place in (root, *root.parents[:4]):
            for prefix in (place, place / "cmeel.prefix"):
                folder = prefix / "share/example-robot-data/robots"
                if folder.is_dir():
                    return folder
    return None


def urdf_files():
    folder = folders()
    return sorted(folder.rglob("*.urdf")) if folder else []


FILES = urdf_files()


def name_of(path):
    return "/".join(path.parts[-3:])


def test_the_package_is_there():
    assert FILES, "install example-robot-data first (the extra `nightly`)"


def read(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpartWarning)
        return Robot.from_urdf(path, base="floating")


def load_all():
    """Robots by file, and what was wrong with the files that are refused."""
    loaded, refused = {}, {}
    for path in FILES:
        try:
            loaded[name_of(path)] = read(path)
        except RobotError as error:
            refused[name_of(path)] = str(error)
    return loaded, refused


LOADED, REFUSED = load_all()


def test_only_files_that_describe_no_rigid_bodies_are_refused():
    # romeo_laas_small and three of tiago have inertias with a negative principal moment;
    # ur3 is a placeholder without links.
    assert len(LOADED) >= 60
    for name, message in REFUSED.items():
        assert "inertia is indefinite" in message or "has no links" in message, name


def with_inertia(robot):
    """The robot, a little heavier where a moving part weighs nothing at all.

    Many files leave frames, rotors or wheels without mass: no library can accelerate them.
    """
    ballast = 1e-3

    def padded(body):
        if body.mass > 0 and np.linalg.eigvalsh(body.inertia).min() > 1e-9 * body.mass:
            return body
        return replace(
            body,
            mass=max(body.mass, ballast),
            inertia=body.inertia + ballast * np.eye(3),
        )

    moving = {j.child_link for j in robot.joints if j.type is not JointType.FIXED}
    links = tuple(padded(link) if link.id in moving else link for link in robot.links)
    return replace(robot, links=links, base_link=padded(robot.base_link))


@pytest.fixture(params=sorted(LOADED), ids=str)
def real(request):
    robot = with_inertia(LOADED[request.param])
    return robot, robots.random_state(robot, 1)


def test_floating_dynamics_agree(real, close):
    robot, s = real
    twin, ours = Twin(robot, floating=True), robots.everything(robot, s)
    u0dot, umdot = twin.aba(s)
    whole = np.concatenate([u0dot, umdot])
    close(np.concatenate([ours["u0dot_FD"], ours["umdot_FD"]]), whole, "FD", rel=1e-10)
    rates = multibody_rates(s.R0, s.u0, s.qm, s.um, s.tau0, s.taum, s.wF0, s.wFm, robot)
    close(np.concatenate([rates.u0dot, rates.umdot]), whole, "multibody_rates", rel=1e-10)
    tau0, taum = twin.rnea(s)
    got = np.concatenate([ours["tau0_ID"], ours["taum_ID"]])
    close(got, np.concatenate([tau0, taum]), "ID", rel=1e-10)
    needed = multibody_forces(s.R0, s.u0, s.qm, s.um, s.u0dot, s.umdot, s.wF0, s.wFm, robot)
    close(np.concatenate(needed), np.concatenate([tau0, taum]), "multibody_forces", rel=1e-10)
    close(robots.whole(ours)[0], twin.crba(s), "GIM", rel=1e-10)
    H = multibody_inertia(s.R0, s.qm, robot)
    H = np.block([[H.H0, H.H0m], [H.H0m.T, H.Hm]])
    close(H, twin.crba(s), "multibody_inertia", rel=1e-10)


def test_fixed_dynamics_agree(real, close):
    robot, s = real
    robot = robot.with_base("fixed")
    s = replace(s.held(), R0=np.eye(3), r0=np.zeros(3))
    twin, ours = Twin(robot, floating=False), robots.everything(robot, s)
    _, umdot = twin.aba(s)
    got = fixed_forward_dynamics(
        s.taum, s.wFm, ours["tL"], ours["pm"], ours["Im"], ours["Bij"], ours["Bi0"], s.um, robot
    )
    close(got, umdot, "fixed_forward_dynamics", rel=1e-10)
    rates = multibody_rates(s.R0, s.u0, s.qm, s.um, s.tau0, s.taum, s.wF0, s.wFm, robot)
    close(rates.umdot, umdot, "multibody_rates", rel=1e-10)
    close(ours["taum_ID"], twin.rnea(s)[1], "ID", rel=1e-10)
    needed = multibody_forces(s.R0, s.u0, s.qm, s.um, s.u0dot, s.umdot, s.wF0, s.wFm, robot)
    close(needed.taum, twin.rnea(s)[1], "multibody_forces", rel=1e-10)
    close(multibody_inertia(s.R0, s.qm, robot).Hm, twin.crba(s), "multibody_inertia", rel=1e-10)
    close(ours["Hm"], twin.crba(s), "Hm", rel=1e-10)
