"""The panels that the user set up for a file (layout, dashboard, sliders), stored in the user's
cache folder, not in the diagram file. Only the page reads what is in them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.results.files import write_whole
from spart_blocks.studio.files.places import kept_file

MOST_BYTES = 100_000


def stored_panels(path: Path) -> dict[str, Any]:
    """The stored panels of a file; empty if there are none, or they cannot be read."""
    file = kept_file(path, "panels.json")
    try:
        if file is None or file.stat().st_size > MOST_BYTES:
            return {}
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def store_panels(path: Path, panels: Mapping[str, Any]) -> None:
    """Store the panels of a file. Raises InputError if they are too large, or JSON cannot hold
    them."""
    try:
        data = json.dumps(panels, allow_nan=False).encode()
    except ValueError:
        raise InputError("the panels have a number that is not finite") from None
    if len(data) > MOST_BYTES:
        about = f"{len(data)} bytes of at most {MOST_BYTES}"
        raise InputError(Fault(f"the panels are too large to keep: {about}", hint="remove some"))
    file = kept_file(path, "panels.json")
    if file is not None:
        with suppress(OSError, InputError):  # the diagram is right without them
            write_whole(file, data)
