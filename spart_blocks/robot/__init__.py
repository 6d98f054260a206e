"""The robot model and the readers that make one."""

from spart_blocks.robot.drive import EFFECTS, Drive, Effect, Limits
from spart_blocks.robot.model import (
    Base,
    BaseLink,
    Connectivity,
    Joint,
    JointSlice,
    JointType,
    Link,
    Robot,
    RobotKeys,
)

__all__ = [
    "EFFECTS",
    "Base",
    "BaseLink",
    "Connectivity",
    "Drive",
    "Effect",
    "Joint",
    "JointSlice",
    "JointType",
    "Limits",
    "Link",
    "Robot",
    "RobotKeys",
]
