"""All formats, each once."""

from __future__ import annotations

from fuzz import (
    commands,
    conversions,
    diagrams,
    fmus,
    live,
    logs,
    npz,
    projects,
    robots,
    ros,
    tables,
    urdf,
)
from fuzz.cases import Format

MODULES = (
    diagrams,
    projects,
    robots,
    ros,
    urdf,
    npz,
    fmus,
    tables,
    logs,
    commands,
    live,
    conversions,
)
FORMATS: tuple[Format, ...] = tuple(module.FORMAT for module in MODULES)
