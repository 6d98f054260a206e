"""How files that nobody has vouched for are read."""

from __future__ import annotations

import warnings
from contextlib import suppress

from spart_blocks.base.errors import RobotError, SpartWarning
from spart_blocks.robot import Robot


def answered(make):
    """Run what makes a robot; only errors and warnings of ours may come of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", SpartWarning)
        with suppress(RobotError):
            assert isinstance(make(), Robot)
