"""The robot model and the readers that make one."""

from spart_blocks.robot.coordinates import JointSlice
from spart_blocks.robot.drive import ALL_EFFECTS, EFFECTS, Drive, Effect, Limits
from spart_blocks.robot.force import Force, JointPort, JointSpring, PointPort, PointSpring
from spart_blocks.robot.loop import Coupling, Loop
from spart_blocks.robot.parts import BaseLink, Connectivity, Joint, JointType, Link, RobotKeys
from spart_blocks.robot.robot import Robot
from spart_blocks.robot.robot_model import Base

__all__ = [
    "ALL_EFFECTS",
    "EFFECTS",
    "Base",
    "BaseLink",
    "Connectivity",
    "Coupling",
    "Drive",
    "Effect",
    "Force",
    "Joint",
    "JointPort",
    "JointSlice",
    "JointSpring",
    "JointType",
    "Limits",
    "Link",
    "Loop",
    "PointPort",
    "PointSpring",
    "Robot",
    "RobotKeys",
]
