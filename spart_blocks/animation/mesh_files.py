"""Locates the mesh files named in a URDF: package:// and relative paths, within the project."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from spart_blocks.base.errors import Fault, InputError

PACKAGE, FILE = "package://", "file://"


def mesh_file(given: str, urdf: Path, root: Path) -> Path:
    """The path of a mesh. urdf: the file that names it; root: the folder that must contain it.

    package://NAME/PATH is PATH in the folder NAME that contains the URDF file, or in a folder NAME
    beside or above it within root; other names are relative to the URDF file. Raises InputError if
    there is no such file, or it is outside root.
    """
    try:
        limit, folder = root.resolve(), urdf.resolve().parent
        name = unquote(given) if given.startswith((PACKAGE, FILE)) else given
        for path in _candidates(name, folder, limit):
            found = path.resolve()
            if not found.is_relative_to(limit):
                hint = f"files must lie in {limit}; --root widens it"
                raise InputError(Fault(f"{given} leaves the project", hint=hint))
            if found.is_file():
                return found
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(f"{given[:80]} cannot be opened: {error}") from None
    hint = f"looked from {folder} up to {limit}"
    raise InputError(Fault(f"{given} does not exist", hint=hint))


def _candidates(name: str, folder: Path, limit: Path) -> list[Path]:
    """Possible paths of a mesh, in the order of the search."""
    if name.startswith(FILE):
        return [Path(name.removeprefix(FILE))]
    if "://" in name and not name.startswith(PACKAGE):
        raise InputError(Fault(f"{name[:80]} is not a file", hint="nothing is fetched"))
    if not name.startswith(PACKAGE):
        return [folder / name]
    package, _, rest = name.removeprefix(PACKAGE).partition("/")
    above = [one for one in (folder, *folder.parents) if one.is_relative_to(limit)]
    inside = [one / rest for one in above if one.name == package]
    return [*inside, *(one / package / rest for one in above), *(one / rest for one in above)]
