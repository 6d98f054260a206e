"""The ports of an FMU, for the page of its block in `spart blocks`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from spart_blocks.base.errors import Fault, InputError

if TYPE_CHECKING:
    from spart_blocks.block_support.ports import Port


def fmu_ports(cls: type[Any], packages: Sequence[str]) -> dict[str, Any]:
    """The ports of the FMU named with --blocks; if none is named, a text that says how to see them.
    Empty for blocks other than those of FMUs. Raises InputError for several FMUs."""
    if not hasattr(cls, "ports_of"):
        return {}
    fmus = [package for package in packages if package.lower().endswith(".fmu")]
    if not fmus:
        return {"ports_by": "those of the FMU: add --blocks NAME.fmu to see them"}
    if len(fmus) > 1:
        raise InputError("the ports of one FMU are shown at a time; name one with --blocks")
    try:
        inputs, outputs = cls.ports_of(fmus[0])
    except ValueError as error:
        raise InputError(Fault(str(error))) from None
    return {"inputs": _rows(inputs), "outputs": _rows(outputs), "ports_by": f"those of {fmus[0]}"}


def _rows(ports: Sequence[Port]) -> list[dict[str, str]]:
    return [
        {
            "port": str(k),
            "name": port.name,
            "type": f"ndarray{port.shape}" if port.shape else "float",
            "unit": port.unit,
            "text": "",
        }
        for k, port in enumerate(ports)
    ]
