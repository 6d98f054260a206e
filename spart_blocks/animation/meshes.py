"""Meshes of robots: STL, OBJ and COLLADA files, loaded by trimesh and simplified for a page.

The files are not trusted: their size is bounded, XML declarations are rejected, and no file that
they refer to is opened.
"""

from __future__ import annotations

import io
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from spart_blocks.animation.dae_check import check_collada
from spart_blocks.animation.packed import Floats, Packed, plain, rounded
from spart_blocks.base.errors import Fault, InputError, pip_install, told

# --- Paths of mesh files --------------------------------------------------------------------------


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


KINDS = (".stl", ".obj", ".dae")
MOST_BYTES = 50_000_000
"""Largest size of a file [bytes]."""
MOST_PIECES = 500
"""Largest number of parts in a file, each with its own colour."""
MOST_TRIANGLES = 5_000_000
"""Largest number of triangles in a file, before simplification for the page."""
DETAIL = 8_000
"""Default number of triangles of all meshes of a page."""
_SAME = 1e6  # of a mesh's size is where vertices count as one
_COLOUR = (0.75, 0.76, 0.78, 1.0)
Colour = tuple[float, float, float, float]


@dataclass(frozen=True, eq=False)
class Mesh:
    """A mesh: vertices (n, 3) [m], faces (m, 3) as indices of vertices, and its colour in the
    file."""

    vertices: Floats
    faces: NDArray[Any]
    colour: Colour

    @property
    def reach(self) -> float:
        """The largest distance of a vertex from the origin [m]."""
        return float(np.linalg.norm(self.vertices, axis=1).max(initial=0.0))


@dataclass
class MeshStore:
    """The meshes of a page; each file is loaded once. detail: number of triangles of all meshes."""

    detail: int = DETAIL
    meshes: list[Mesh] = field(default_factory=list)
    _places: dict[Path, range | InputError] = field(default_factory=dict)

    def add(self, path: Path) -> range:
        """The indices in `meshes` of a file's parts; the file is loaded at first. Raises InputError
        if it cannot be read."""
        if path not in self._places:
            try:
                first = len(self.meshes)
                self.meshes += read_mesh(path)
                self._places[path] = range(first, len(self.meshes))
            except InputError as error:
                self._places[path] = error
        found = self._places[path]
        if isinstance(found, InputError):
            raise found
        return found

    def simplified(self) -> list[Mesh]:
        """The meshes, simplified to `detail` triangles together."""
        total = sum(len(mesh.faces) for mesh in self.meshes)
        share = min(1.0, self.detail / total) if total else 1.0
        return [_simplified(mesh, share) for mesh in self.meshes]

    def packed(self) -> list[dict[str, Packed]]:
        """The simplified meshes in the recording's format."""
        return [_packed(mesh) for mesh in self.simplified()]


def read_mesh(path: Path) -> list[Mesh]:
    """The parts of a mesh file, in metres. Raises InputError if it cannot be read, or trimesh is
    not installed."""
    suffix = path.suffix.lower()
    if suffix not in KINDS:
        raise InputError(f"a mesh is one of {', '.join(KINDS)}")
    data = _data(path)
    if suffix == ".dae":
        check_collada(data)
    try:
        import trimesh
    except ImportError:
        raise InputError(f"meshes need trimesh: {pip_install('animate')}") from None
    try:
        loaded = trimesh.load(io.BytesIO(data), file_type=suffix[1:], skip_materials=True)
        return _parts(loaded)
    except InputError:
        raise
    except ImportError as error:
        what = f"{suffix[1:]} files need {error.name or 'more of trimesh'}"
        raise InputError(f"{what}: {pip_install('animate')}") from None
    except Exception as error:  # readers of hostile files fail in any way
        raise InputError(f"cannot be read: {told(error)}") from None


def _data(path: Path) -> bytes:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise InputError("is not a regular file")
        if status.st_size > MOST_BYTES:
            size = f"{status.st_size / 1e6:.0f} MB"
            raise InputError(f"has {size}; the most is {MOST_BYTES // 1_000_000} MB")
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise InputError("there is no such file") from None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be opened: {getattr(error, 'strerror', error)}") from None


def _parts(loaded: Any) -> list[Mesh]:
    """The meshes of an object loaded by trimesh, each placed in the frame of the file."""
    if hasattr(loaded, "geometry"):
        nodes = list(loaded.graph.nodes_geometry)
        if len(nodes) > MOST_PIECES:
            raise InputError(f"has {len(nodes)} parts; the most is {MOST_PIECES}")
        placed = [loaded.graph[node] for node in nodes]
        pairs = [(loaded.geometry[name], T) for T, name in placed]
    else:
        pairs = [(loaded, np.eye(4))]
    unit = _metres(loaded, [one for one, _ in pairs])
    found = [_mesh(one, T, unit) for one, T in pairs if hasattr(one, "faces")]
    found = [mesh for mesh in found if len(mesh.faces)]
    if not found:
        raise InputError("has no triangles")
    total = sum(len(mesh.faces) for mesh in found)
    if total > MOST_TRIANGLES:
        raise InputError(f"has {total:,} triangles; the most is {MOST_TRIANGLES:,}")
    return found


def _metres(loaded: Any, parts: list[Any]) -> float:
    """The unit of length of a file [m]; 1 for STL and OBJ files, which do not declare one."""
    for one in (*parts, loaded):
        told_ = re.fullmatch(r"([\d.eE+-]+) \* meters", str(one.metadata.get("units", "")))
        if told_ and 0 < float(told_[1]) < 1e6:
            return float(told_[1])
    return 1.0


def _mesh(one: Any, T: Any, unit: float) -> Mesh:
    vertices = (np.asarray(one.vertices, dtype=float) @ T[:3, :3].T + T[:3, 3]) * unit
    faces = np.asarray(one.faces, dtype=np.int64)
    if not np.isfinite(vertices).all():
        raise InputError("has vertices that are not finite")
    if len(faces) and not (faces.min() >= 0 and faces.max() < len(vertices)):
        raise InputError("has faces of vertices that it does not have")
    return _merged(Mesh(vertices, faces, _colour(one)))


def _merged(mesh: Mesh) -> Mesh:
    """The mesh without duplicate vertices, which files have where triangles meet."""
    size = float(np.ptp(mesh.vertices, axis=0).max(initial=0.0)) or 1.0
    key = np.rint(mesh.vertices * (_SAME / size)).astype(np.int64)
    vertices, faces = _joined(mesh, key)
    return Mesh(vertices, faces, mesh.colour)


def _joined(mesh: Mesh, key: NDArray[np.int64]) -> tuple[Floats, NDArray[Any]]:
    """The vertices and faces after merging vertices with equal rows of key (n, 3). Degenerate faces
    are dropped."""
    _, first, of = np.unique(key, axis=0, return_index=True, return_inverse=True)
    faces = of.reshape(-1)[mesh.faces]
    a, b, c = faces.T
    return mesh.vertices[first], faces[(a != b) & (b != c) & (c != a)]


def _colour(one: Any) -> Colour:
    try:
        rgba = np.asarray(one.visual.material.main_color, dtype=float) / 255
        red, green, blue, alpha = rgba.clip(0.0, 1.0).tolist()
    except (AttributeError, TypeError, ValueError):
        return _COLOUR
    return red, green, blue, alpha


def _simplified(mesh: Mesh, share: float) -> Mesh:
    """The mesh with this share of its triangles, by edge collapse or else by vertex clustering."""
    wanted = max(12, int(share * len(mesh.faces)))
    if wanted >= len(mesh.faces):
        return mesh
    try:
        from fast_simplification import simplify

        vertices, faces = simplify(mesh.vertices, mesh.faces, target_count=wanted)
    except ImportError:
        vertices, faces = mesh.vertices, mesh.faces
    if not len(faces) or len(faces) > 2 * wanted:
        vertices, faces = _clustered(mesh, wanted)
    return Mesh(np.asarray(vertices, dtype=float), np.asarray(faces), mesh.colour)


def _clustered(mesh: Mesh, wanted: int) -> tuple[Floats, NDArray[Any]]:
    """The mesh simplified by merging vertices within cells, enlarged until there are at most
    `wanted` triangles."""
    least = mesh.vertices.min(axis=0)
    size = float((mesh.vertices.max(axis=0) - least).max())
    cells = int(np.sqrt(wanted)) + 1
    while True:
        key = np.floor((mesh.vertices - least) / size * cells).astype(np.int64)
        vertices, faces = _joined(mesh, key)
        faces = np.unique(faces, axis=0)
        if len(faces) <= wanted or cells <= 2:
            return vertices, faces[:wanted]
        cells = int(0.8 * cells)


def _packed(mesh: Mesh) -> dict[str, Packed]:
    used, first, of = np.unique(mesh.faces, return_index=True, return_inverse=True)
    order = np.argsort(first)  # as the faces use them, which compresses well
    places = np.argsort(order)
    kind = np.uint16 if len(used) < 2**16 else np.uint32
    return {
        "positions": rounded(mesh.vertices[used[order]]),
        "indices": plain(np.asarray(places[of].reshape(-1, 3), dtype=kind)),
    }
