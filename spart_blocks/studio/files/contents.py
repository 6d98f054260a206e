"""The searchable content of a file: the blocks of all sheets with their ports and parameters."""

from __future__ import annotations

from collections import deque
from itertools import chain
from typing import Any

from spart_blocks.studio.files.charts import machine_of
from spart_blocks.studio.files.connections import web_of
from spart_blocks.studio.files.forms import plain_text
from spart_blocks.studio.files.reading import Reading
from spart_blocks.studio.files.scopes import Scope, whole
from spart_blocks.studio.files.sheets import type_of

MOST_BLOCKS = 20_000
_LONGEST = 80


def contents_of(reading: Reading) -> list[dict[str, Any]]:
    """All blocks of a file: those of the top sheet first, then those of each subsystem."""
    found: list[dict[str, Any]] = []
    waiting = deque([whole(reading)])
    while waiting and len(found) < MOST_BLOCKS:
        scope = waiting.popleft()
        for name, sides in web_of(scope).sides.items():
            ports = (port.name for port in chain(*(side.ports for side in sides)))
            named = dict.fromkeys(port for port in ports if port and not port.isdigit())
            states = _states(scope, name)
            found.append({
                "at": scope.at,
                "block": name,
                "type": type_of(scope, name),
                "ports": list(named),
                "parameters": _parameters(scope, name),
                **({"states": states} if states else {}),
            })  # fmt: skip
            inner = scope.inner(name) if name in scope.blocks else None
            if inner is not None:
                waiting.append(inner)
    return found[:MOST_BLOCKS]


def _states(scope: Scope, name: str) -> dict[str, str]:
    """The names of the states of a machine by their paths; nothing of another block."""
    found = machine_of(scope, name)
    if found is None:
        return {}
    return {found.path(*state.keys): state.name for state in found.machine.states.values()}


def _parameters(scope: Scope, name: str) -> dict[str, str]:
    section = scope.blocks.get(name, {})
    return {
        str(key): plain_text(value)[:_LONGEST]
        for key, value in section.items()
        if key not in ("type", "use")
    }
