"""To which ports a wire from a port fits, and why not to others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spart_blocks.errors import InputError
from spart_blocks.studio.files.connections import web_of
from spart_blocks.studio.files.scopes import Scope
from spart_blocks.studio.files.sheets import sides_told


def fits_of(scope: Scope, block: str, port: str, output: bool) -> dict[str, str | None]:
    """For each port on the other side, as `block.port`, None where a wire fits, or the reason why
    not. output: whether the wire begins at an output. Raises InputError where there is no such
    port."""
    sides = sides_told(scope, web_of(scope))
    mine = sides[block][output] if block in sides else ()
    own = next((one for one in mine if one["name"] == port), None)
    if own is None:
        raise InputError(f"there is no {'output' if output else 'input'} {block}.{port}")
    written = scope.within is not None
    found: dict[str, str | None] = {}
    for name, both in sides.items():
        for other in both[not output]:
            key = f"{name}.{other['name']}"
            source, target = (own, other) if output else (other, own)
            labels = (f"{block}.{port}", key) if output else (key, f"{block}.{port}")
            found[key] = _reason(source, target, *labels) if written else _FOREIGN
    return found


_FOREIGN = "this sheet is of another file: open that to change it"


def _reason(
    source: Mapping[str, Any], target: Mapping[str, Any], start: str, end: str
) -> str | None:
    if target["wired"]:
        return f"{end} has a wire already"
    a, b = source["shape"], target["shape"]
    if target["exact"] and source["known"] and a != b:
        return f"{start} is {_shape(a)}, {end} takes {_shape(b)}"
    units = [set(_units(side["unit"])) for side in (source, target)]
    if all(units) and not units[0] & units[1]:
        return f"{start} is in {source['unit']}, {end} takes {target['unit']}"
    return None


def _shape(text: str) -> str:
    if not text:
        return "one number"
    return f"a matrix of {text}" if "×" in text else f"a vector of {text}"


def _units(text: str) -> list[str]:
    return [part.strip() for part in text.strip("[]").split(",") if part.strip()]
