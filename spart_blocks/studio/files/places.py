"""Block positions chosen by the user, stored in the user's cache folder, not in the diagram
file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from spart_blocks.base.cache import cache_folder, key_of
from spart_blocks.base.errors import InputError
from spart_blocks.drawing.placed import Spot, Spots
from spart_blocks.results.files import write_whole
from spart_blocks.studio.files.operations import spot_of

Places = Mapping[str, Spots]
"""Block positions of each sheet, by the name of its subsystem."""
MOST_BYTES = 8_000_000


def stored(path: Path) -> dict[str, dict[str, Spot]]:
    """The stored block positions of a file by sheet; empty if they cannot be read."""
    file = kept_file(path, "json")
    try:
        if file is None or file.stat().st_size > MOST_BYTES:
            return {}
        found = json.loads(file.read_text(encoding="utf-8"))
        return {
            str(sheet): {str(name): _spot(one) for name, one in blocks.items()}
            for sheet, blocks in found.items()
        }
    except (OSError, ValueError, AttributeError, TypeError, RecursionError, InputError):
        return {}


def store(path: Path, places: Places) -> None:
    """Store the positions of all sheets on which the user has moved a block."""
    file = kept_file(path, "json")
    if file is None:
        return
    kept = {
        sheet: {name: [spot.x, spot.y, spot.moved] for name, spot in spots.items()}
        for sheet, spots in places.items()
        if any(spot.moved for spot in spots.values())
    }
    with suppress(OSError, InputError):  # the diagram is right without them
        if not kept:
            file.unlink(missing_ok=True)
            return
        write_whole(file, json.dumps(kept).encode())


def kept_file(path: Path, suffix: str) -> Path | None:
    """The file of the cache folder for what the user set up for a diagram file; None without a
    cache folder."""
    folder = cache_folder()
    return None if folder is None else folder / "studio" / f"{key_of(str(path.resolve()))}.{suffix}"


def _spot(given: Any) -> Spot:
    x, y, moved = given
    spot = spot_of([x, y])
    return Spot(spot.x, spot.y, bool(moved))
