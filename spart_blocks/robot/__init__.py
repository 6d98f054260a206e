"""The robot model and the readers that make one."""

from spart_blocks.robot.model import (
    Base,
    BaseLink,
    Connectivity,
    Joint,
    JointSlice,
    JointType,
    Limits,
    Link,
    Robot,
    RobotKeys,
)

__all__ = [
    "Base",
    "BaseLink",
    "Connectivity",
    "Joint",
    "JointSlice",
    "JointType",
    "Limits",
    "Link",
    "Robot",
    "RobotKeys",
]
