"""Serial robots from Denavit-Hartenberg parameters, like SPART's DH_Serial2robot.

Source: SPART's manual, DH_Serial2robot; checked against SPART's own output.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from spart_blocks.base.errors import InputError, RobotError
from spart_blocks.base.spatial import Array, cos, filled, one_scalar, sin
from spart_blocks.robot._faults import Faults
from spart_blocks.robot._fields import FieldReader
from spart_blocks.robot._record import Floats
from spart_blocks.robot._transforms import rotation_x, rotation_z, translation
from spart_blocks.robot.checks import report_doubts
from spart_blocks.robot.parts import BaseLink, Joint, JointType, Link
from spart_blocks.robot.robot_model import Base, RobotModel

_AXIS = (0.0, 0.0, 1.0)  # joint axes are z in this convention


def dh_serial_to_robot(
    data: Mapping[str, Any], *, base: Base = "floating", strict: bool = False
) -> tuple[RobotModel, Floats]:
    """The robot of DH data, and T_Ln_EE (4,4) [m] from its last link to the end-effector.

    data: n, the number of links; man, a list with one entry for each link: type (1 revolute,
    2 prismatic), DH with d, a [m], alpha, theta [rad], b (3,) [m] from the link's centre of
    mass to the next joint, in the axes of the DH frame there, mass [kg], I (3,3) [kg m^2];
    base: T_L0_J1 (4,4) [m] from the base-link's centre of mass to joint 1, mass, I;
    EE: theta [rad], d [m] (zeros if absent). A name is optional.
    The first joint variable adds to theta or d. Raises RobotError with every wrong field.
    """
    if base not in ("fixed", "floating"):
        raise RobotError(f"base is {base!r}; it must be 'fixed' or 'floating'")
    faults = Faults()
    top = FieldReader(data, "", faults, ("name", "n", "man", "base", "EE"))
    root = top.inner("base", ("T_L0_J1", "mass", "I"))
    T_L0_J1, base_body = root.transform("T_L0_J1"), root.body("mass", "I")
    ee = FieldReader(top.data.get("EE", {}), "EE", faults, ("theta", "d"))
    T_EE = rotation_z(ee.number("theta", 0.0)) @ translation([0, 0, ee.number("d", 0.0)])
    entries = top.items("man")
    n = top.integer("n")
    if n is not None and n != len(entries) and "man" in top.data:
        top.note(f"is {n}, but man has {len(entries)} entries", "n")
    links, joints = [], []
    T = T_L0_J1  # from the centre of mass of the link before to joint i
    for i, entry in enumerate(entries, start=1):
        last = i == len(entries)
        link, joint, T = _link_and_joint(i, entry, T, T_EE if last else np.eye(4), faults)
        links.append(link)
        joints.append(joint)
    name = top.text("name", "DH robot")
    faults.raise_if_any()
    base_link = BaseLink("base", np.eye(4), *base_body)
    robot = RobotModel(name, tuple(links), tuple(joints), base_link, base=base)
    report_doubts(robot, strict=strict)
    return robot, T


_DH_KEYS = ("d", "theta", "alpha", "a")


def dh_rotation_and_translation(dh: Mapping[str, Any], qm: Any, type: int) -> tuple[Array, Array]:
    """R (3,3), axes of the next Denavit-Hartenberg frame to those of this, and s (3,) [m],
    from this origin to the next, in these axes.

    dh: theta [rad] and d [m] about and along this z, then a [m] and alpha [rad] along and
    about the next x, as numbers or symbols. qm [rad or m]: the joint's position, added to
    theta where type is 0 (revolute), to d where it is 1 (prismatic). These are the numbers of
    SPART's function; DH data and robots count from 1. Raises InputError for missing or
    unknown fields and for another type. Source: SPART's DH_Rs; J. Denavit, R. Hartenberg, "A
    kinematic notation for lower-pair mechanisms based on matrices", J. Applied Mechanics 22
    (1955).
    """
    wrong = sorted(set(_DH_KEYS) ^ set(dh))
    if wrong:
        raise InputError(f"DH has the fields {', '.join(_DH_KEYS)}; amiss: {', '.join(wrong)}")
    if type not in (0, 1):
        raise InputError(
            f"type is {type!r}; DH_Rs takes 0 (revolute) and 1 (prismatic), where the data of "
            "DH_Serial2robot says 1 and 2"
        )
    d, theta, alpha, a = (one_scalar(dh[key], f"DH.{key}") for key in _DH_KEYS)
    q = one_scalar(qm, "qm")
    theta, d = (theta + q, d) if type == 0 else (theta, d + q)
    (c, s), (ca, sa) = ((cos(x), sin(x)) for x in (theta, alpha))
    like = (c, s, ca, sa)
    rows = [c, -s * ca, s * sa, s, c * ca, -c * sa, np.zeros(1), sa, ca]
    R = filled([row[0] for row in rows], *like).reshape(3, 3)
    return R, filled([(a * c)[0], (a * s)[0], d[0]], a, d, *like)


def _link_and_joint(
    i: int, entry: object, T_joint: Floats, T_end: Floats, faults: Faults
) -> tuple[Link, Joint, Floats]:
    """Link and joint i, and the transform Trans(b) from its centre of mass to the next joint."""
    man = FieldReader(entry, f"man[{i - 1}]", faults, ("type", "DH", "b", "mass", "I"))
    dh = man.inner("DH", ("d", "alpha", "a", "theta"))
    b = man.array("b", (3,), (3, 1))
    d, alpha, a, theta = (dh.number(key) for key in ("d", "alpha", "a", "theta"))
    kind = man.integer("type")
    if kind not in (None, JointType.REVOLUTE, JointType.PRISMATIC):
        man.note(f"is {kind}; it must be 1 (revolute) or 2 (prismatic)", "type")
        kind = None
    T_link = rotation_z(theta) @ translation([0, 0, d]) @ translation([a, 0, 0]) @ rotation_x(alpha)
    T_link = T_link @ T_end @ translation(-b)
    link = Link(i, f"link{i}", i, T_link, *man.body("mass", "I"))
    joint = Joint(
        id=i,
        name=f"joint{i}",
        type=JointType(kind or 1),
        q_id=i,
        parent_link=i - 1,
        child_link=i,
        axis=np.array(_AXIS),
        T=T_joint,
    )
    return link, joint, translation(b)
