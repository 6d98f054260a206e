"""The Earth's magnetic field."""

from __future__ import annotations

from typing import Any

from bdsim.components import FunctionBlock

from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import fixed
from spart_blocks.block_support.space import earth_frames
from spart_blocks.block_support.values import counted
from spart_blocks.environment.frames import geodetic, ned_rotation
from spart_blocks.environment.magnetic import MOST_DEGREE, field_model


class Magnetic_Field(Declared, FunctionBlock):
    """The Earth's main magnetic field: IGRF-14, from the core, with its secular variation.

    Its coefficients are linear between 1970, 1975, ..., 2030; the line at the epoch holds for the
    run. The recursion is in Cartesian coordinates and regular at the poles, where B_ned has north
    along the meridian 0. Degree 13 costs about 1,500 products; a lower degree leaves out small
    scales: on a low orbit about 100 nT at degree 6. The crust and currents around the Earth, about
    100 nT, are not part of IGRF.

    Source: IAGA Division V-MOD, IGRF-14 (2024), doi.org/10.5281/zenodo.14012302; Montenbruck and
    Gill (2000), 3.2.4, for the recursion of Cunningham.

    :arg epoch: UTC at t = 0, such as 2026-03-20T12:00:00; from 1972 to 2030
    :arg degree: degree of the model, 1 to 13; 1 is a dipole
    :arg frame: frame of r and B, eci or ecef
    """

    nin = 1
    nout = 2
    takes = (PortSpec("r", "3", "m", "position from the Earth's centre, ECI or ECEF"),)
    gives = (
        PortSpec("B", "3", "T", "magnetic field, in the frame of r"),
        PortSpec("B_ned", "3", "T", "the same to geodetic north, east, down"),
    )
    epoch = fixed("str")
    degree = fixed("int", "", MOST_DEGREE)
    frame = fixed("str", "", "eci", choices=("eci", "ecef"))

    def build(self, epoch: Any, degree: Any) -> dict[str, Any]:
        self.frames = earth_frames(epoch)
        self.model = field_model(self.frames.epoch, counted(degree, "degree", MOST_DEGREE))
        return self.resolve_ports()

    def output(self, t: Any, inputs: list[Any], x: Any) -> list[Any]:
        (r,) = inputs
        if self.frame == "eci":
            turn = self.frames.rotation(t)
            r = turn.T @ r
        field = self.model.field(r, t)
        latitude, longitude, _ = geodetic(r)
        ned = ned_rotation(latitude, longitude).T @ field
        return [turn @ field if self.frame == "eci" else field, ned]
