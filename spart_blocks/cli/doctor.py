"""`spart doctor`: checks which components of this installation work or are missing."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Literal

import typer

from spart_blocks import __version__
from spart_blocks.base.errors import SpartError, pip_install, told
from spart_blocks.base.web_build import STUDIO, VIEWER, WebPage, found_node, is_fresh, lack
from spart_blocks.cli.commands import command, switch
from spart_blocks.cli.examples import shipped
from spart_blocks.cli.terminal import FAILED, grid, has_display, put

State = Literal["ok", "missing", "wrong"]
NAME = "spart_blocks"
NOT_FOR_USERS = ("test", "lint", "benchmarks", "nightly", "docs", "pages")


@dataclass(frozen=True)
class DoctorFinding:
    """The result of one check. hint: how to resolve a problem."""

    topic: str
    state: State
    text: str
    hint: str = ""


@command(
    "spart doctor",
    "spart doctor --json",
)
def doctor(*, as_json: bool = switch("--json", "Print the findings as JSON.")) -> int:
    """Report the state of this installation: versions, compiler, cache, display, extras. Exit
    codes: 0 all required components and all installed packages of blocks work, 1 one does not.
    Missing optional components are listed with how to install them.
    """
    findings = list(_findings())
    if as_json:
        typer.echo(json.dumps([asdict(one) for one in findings], indent=2))
    else:
        rows: list[tuple[str, str, str]] = []
        for one in findings:
            rows += [(one.topic, one.state, one.text)]
            rows += [("", "", f"  {one.hint}")] if one.hint else []
        put(grid(("name", "name", "text"), rows))
    return FAILED if any(one.state == "wrong" for one in findings) else 0


def _findings() -> Iterator[DoctorFinding]:
    yield DoctorFinding("spart_blocks", "ok", f"{__version__} in {os.path.dirname(__file__)[:-4]}")
    yield DoctorFinding(
        "python",
        "ok",
        f"{platform.python_version()} on {platform.platform(terse=True)}, {sys.executable}",
    )
    extras: dict[str, list[str]] = {}
    for name, extra in _requirements():
        if extra is None:
            yield _needed(name)
        else:
            extras.setdefault(extra, []).append(name)
    yield _compiler()
    yield _cache()
    yield _display()
    yield _page("viewer", VIEWER, "spart animate writes no pages")
    yield _page("studio", STUDIO, "spart studio does not start")
    yield _shipped()
    yield from _block_packages()
    for extra, names in extras.items():
        yield _extra(extra, names)


def _requirements() -> Iterator[tuple[str, str | None]]:
    """The required distributions, each with its extra or None; those for developers are left
    out."""
    import re

    for line in metadata.requires(NAME) or ():
        name = re.match(r"[\w.-]+", line)
        extra = re.search(r"extra == ['\"](\w+)['\"]", line)
        if name and not (extra and extra[1] in NOT_FOR_USERS):
            yield name[0], extra[1] if extra else None


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _needed(name: str) -> DoctorFinding:
    version = _version(name)
    if version is None:
        return DoctorFinding(name, "wrong", "is not installed", f"pip install {name}")
    return DoctorFinding(name, "ok", version)


def _extra(extra: str, names: list[str]) -> DoctorFinding:
    absent = [name for name in names if _version(name) is None]
    topic = f"extra {extra}"
    if absent:
        return DoctorFinding(topic, "missing", ", ".join(absent), pip_install(extra))
    return DoctorFinding(topic, "ok", ", ".join(f"{name} {_version(name)}" for name in names))


def _compiler() -> DoctorFinding:
    """Check that there is a C compiler whose libraries can be loaded."""
    from spart_blocks.program.c.compiler import compiler_name, strict_loaded

    name = compiler_name()
    if name is None:
        if os.environ.get("SPART_COMPILER", "").strip().lower() == "none":
            return DoctorFinding(
                "compiler", "missing", "SPART_COMPILER=none: runs are not compiled"
            )
        hint = f"install gcc or clang, or {pip_install('compiler')}"
        return DoctorFinding("compiler", "missing", "none: runs are 10 to 100 times slower", hint)
    try:
        library = strict_loaded("int spart_doctor(int x) { return x + 1; }\n", ("-O1",))
        works = library.spart_doctor(41) == 42
    except SpartError as error:
        return DoctorFinding("compiler", "wrong", f"{name}: {error}")
    return DoctorFinding("compiler", "ok" if works else "wrong", name)


def _cache() -> DoctorFinding:
    """Check the folder of compiled programs."""
    from spart_blocks.base.cache import cache_folder, user_folder

    folder = cache_folder()
    if folder is None:
        hint = "set SPART_CACHE to a folder of yours"
        return DoctorFinding("cache", "missing", "no home: programs are compiled each time", hint)
    if user_folder() is None or not os.access(folder, os.W_OK):
        hint = "let it be yours and not everyone's, or set SPART_CACHE to another folder"
        return DoctorFinding("cache", "missing", f"{folder} cannot be used", hint)
    sizes = [size for entry in os.scandir(folder) if (size := _size(entry)) is not None]
    return DoctorFinding("cache", "ok", f"{folder}: {len(sizes)} files, {sum(sizes) / 1e6:.0f} MB")


def _size(entry: os.DirEntry[str]) -> int | None:
    """The size of a file [bytes]; None for a folder, or a file that another process has just
    removed."""
    try:
        return entry.stat().st_size if entry.is_file() else None
    except FileNotFoundError:
        return None


def _display() -> DoctorFinding:
    """Check whether scopes can open windows."""
    try:
        import matplotlib

        backend = str(matplotlib.get_backend())
    except Exception as error:
        return DoctorFinding("display", "wrong", told(error))
    if not has_display():
        return DoctorFinding("display", "missing", "none: scopes become PNG files under out/")
    if backend.lower() in ("agg", "pdf", "ps", "svg", "template", "cairo"):
        hint = "install tkinter or PyQt6, or unset MPLBACKEND"
        return DoctorFinding("display", "missing", f"Matplotlib's {backend} opens no windows", hint)
    return DoctorFinding("display", "ok", f"windows by Matplotlib's {backend}")


def _page(name: str, page: WebPage, loss: str) -> DoctorFinding:
    """Check whether a web page is built, or can be. loss: what does not work without it."""
    if is_fresh(page):
        return DoctorFinding(name, "ok", str(page.target / page.main))
    node = found_node() if page.has_sources else None
    if node is None:
        return DoctorFinding(name, "missing", f"{lack(page)}: {loss}", page.hint)
    return DoctorFinding(name, "ok", f"is built by {node.node} when it is first needed")


def _shipped() -> DoctorFinding:
    try:
        return DoctorFinding("examples", "ok", str(shipped() / "diagrams"))
    except SpartError as error:
        return DoctorFinding("examples", "wrong", str(error))


def _block_packages() -> Iterator[DoctorFinding]:
    """Check the installed packages of blocks."""
    from spart_blocks.diagram.build.installed_blocks import installed_blocks

    found = installed_blocks()
    for label, names in found.packages.items():
        yield DoctorFinding("blocks", "ok", f"{label}: {', '.join(names)}")
    for fault in found.faults:
        yield DoctorFinding("blocks", "wrong", fault.message, fault.hint or "")
