"""The forms of blocks of buses: the signals that come in, and those that the block names."""

from __future__ import annotations

from typing import Any

from spart_blocks.base.errors import InputError
from spart_blocks.base.paths import written_path
from spart_blocks.diagram.build.late_blocks import BUSES
from spart_blocks.diagram.written.connections import ALL
from spart_blocks.studio.files.bundles import CREATOR
from spart_blocks.studio.files.connections import Web, web_of
from spart_blocks.studio.files.ports import sides_of, texts
from spart_blocks.studio.files.scopes import Scope
from spart_blocks.studio.files.sheets import carried_signals, type_of


def bus_form(scope: Scope, name: str) -> dict[str, Any]:
    """The form of a block of buses. Raises InputError for another block."""
    kind = type_of(scope, name)
    if kind not in BUSES:
        raise InputError(f"{name[:200]} is no block of buses")
    web, section = web_of(scope), scope.blocks[name]
    return {
        "path": written_path(scope.written[name].keys) if scope.within is not None else "",
        "incoming": _incoming(scope, web, name) if kind != CREATOR else [],
        "own": _own(scope, web, name) if kind == CREATOR else [],
        "signals": texts(section.get("signals")),
        "outputs": texts(section.get("outputs")),
    }


def _incoming(scope: Scope, web: Web, name: str) -> list[dict[str, str]]:
    """The signals of the buses that are wired to a block."""
    found: dict[str, dict[str, str]] = {}
    for one, names in zip(web.connections, web.carried, strict=True):
        if one.target == name and one.input in (ALL, "bus"):
            signals = carried_signals(scope, one.source, names, f"{one.output}.")
            found |= {signal["name"]: signal for signal in signals}
    return list(found.values())


def _own(scope: Scope, web: Web, name: str) -> list[str]:
    """The signals of a creator, and the buses within its bus."""
    names = [*sides_of(scope, name)[1].names, *web.sides[name][0].names]
    return list(dict.fromkeys(one.partition(".")[0] for one in names if one != ALL))
