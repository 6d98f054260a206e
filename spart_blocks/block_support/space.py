"""What blocks of a spacecraft's surroundings share: checked parameters, common ports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, brief, did_you_mean
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import EPOCH, fixed
from spart_blocks.block_support.values import counted, number, numbers, positive_number
from spart_blocks.environment.constants import ZONALS
from spart_blocks.environment.frames import EarthFrames
from spart_blocks.environment.plates import Plates
from spart_blocks.environment.time import epoch_of

POSITION = PortSpec("r", "3", "m", "position from the Earth's centre, ECI")
VELOCITY = PortSpec("v", "3", "m/s", "velocity, ECI")
ATTITUDE = PortSpec("R", "3, 3", "", "rotation, body to ECI")
SUN = PortSpec("sun", "3", "m", "position of the Sun from the Earth's centre, ECI")
ACCELERATION = PortSpec("a", "3", "m/s^2", "acceleration, ECI")
FORCE = PortSpec("f", "3", "N", "force, ECI")
WRENCH = PortSpec("w", "6", "N m, N", "torque and force at the centre of mass, ECI")

Z = np.array([0.0, 0.0, 1.0])


def earth_frames(epoch: Any, dut1: float = 0.0) -> EarthFrames:
    """The Earth's frames at an epoch that a user writes."""
    return EarthFrames.at(epoch_of(epoch, dut1))


class OfEpoch(Declared):
    """A block of the frames of the Earth from an epoch on, its `frames`.

    :arg dut1: UT1 - UTC, from IERS Bulletin A
    """

    epoch = EPOCH
    dut1 = fixed("float", "s", 0.0)

    def build(self, epoch: Any, dut1: float = 0.0) -> dict[str, Any]:
        self.frames = earth_frames(epoch, dut1)
        return self.resolve_ports()


def earth_axis(epoch: Any) -> Array:
    """The Earth's axis in ECI at an epoch, z without one."""
    return Z if epoch is None else earth_frames(epoch).pole


def zonals(degree: Any, given: Any) -> Array:
    """The zonal coefficients J2, J3, ... that a user gives, or those of EGM96 up to a degree."""
    most = len(ZONALS) + 1
    if given is not None:
        out = np.atleast_1d(numbers(given, "J"))
        if out.ndim != 1 or len(out) > most - 1:
            raise InputError(f"J must be a list of J2 to J{most} at most, not {brief(given)}")
        return out
    if degree in (0, 1) and not isinstance(degree, bool):
        return np.zeros(0)
    return ZONALS[: counted(degree, "degree", most) - 1].copy()


def symmetric_inertia(value: Any, name: str) -> Array:
    """An inertia (3,3) [kg m^2] from a matrix or its diagonal; ValueError unless it is symmetric
    and positive definite.
    """
    found = numbers(value, name)
    out = np.diag(found) if found.shape == (3,) else found
    if out.shape != (3, 3):
        raise ValueError(f"{name} must be a matrix (3, 3) or its diagonal, not {brief(value)}")
    if not np.allclose(out, out.T) or np.linalg.eigvalsh(out)[0] <= 0:
        raise ValueError(f"{name} must be symmetric and positive definite")
    return out


_PLATE = ("area", "normal", "centre", "specular", "diffuse")


def plates_of(given: Any, name: str) -> Plates:
    """Plates from a list of {area, normal, centre, specular, diffuse}, the last three optional."""
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        raise InputError(f"{name} must be a list of one plate or more, not {brief(given)}")
    rows = [_plate(plate, f"{name}[{k}]") for k, plate in enumerate(given)]
    return Plates(*(np.array(column) for column in zip(*rows, strict=True)))


def _plate(given: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(given, dict) or not {"area", "normal"} <= set(given):
        raise InputError(f"{where} must have an area and a normal, not {brief(given)}")
    for key in given:
        if key not in _PLATE:
            fault = f"{where} has no entry {brief(key)}"
            raise InputError(Fault(fault, hint=did_you_mean(str(key), _PLATE)))
    normal = numbers(given["normal"], f"{where}.normal", (3,))
    length = np.linalg.norm(normal)
    if length == 0:
        raise InputError(f"{where}.normal must not be zero")
    parts = [number(given.get(key, 0.0), f"{where}.{key}") for key in ("specular", "diffuse")]
    if min(parts) < 0 or sum(parts) > 1:
        raise InputError(f"{where}: specular and diffuse must be from 0 to 1, also their sum")
    area = positive_number(given["area"], f"{where}.area", "m^2")
    centre = numbers(given.get("centre", (0.0, 0.0, 0.0)), f"{where}.centre", (3,))
    return area, normal / length, centre, *parts
