"""What this package is made of: all that determines what it makes of a file."""

from __future__ import annotations

import json
import os
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_MADE_WITH = ("bdsim", "casadi", "numpy", "scipy", "spatialmath-python")


@cache
def package_state() -> str:
    """The files of this package, with their sizes and times, and the versions of what it needs."""
    states = []
    for folder, _, names in os.walk(Path(__file__).parents[1]):  # faster than rglob
        for name in names:
            if name.endswith((".py", ".c", ".h")):
                path = os.path.join(folder, name)
                status = os.stat(path)
                states.append((path, status.st_size, status.st_mtime_ns))
    return json.dumps([sorted(states), [version_of(name) for name in _MADE_WITH], sys.version])


@cache
def version_of(package: str) -> str:
    """The version of an installed package; empty if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
