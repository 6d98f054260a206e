"""Finds files that are tests by searching their text; imports only the standard library. Since it
searches arbitrary folders, it reads only files of bounded size and never raises."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from spart_blocks.base.errors import SpartError

SUFFIXES = (".yaml", ".yml")
MAX_BYTES = 4_000_000  # of a diagram, as spart_blocks.base.document has it
_SECTIONS = tuple(
    re.compile(rb"^(?:\xef\xbb\xbf)?[\"']?" + name + rb"[\"']?[ \t]*:(?=\s|$)", re.MULTILINE)
    for name in (b"expect", b"blocks")
)
_EACH = re.compile(rb"each_variant")
_NOT_OURS = ("__pycache__", "node_modules")


@dataclass(frozen=True)
class ClaimCase:
    """One test of a file. overrides: `path=value`; root: of the project; variants: `slot=choice`,
    for choices other than the defaults; blocks: packages of blocks that it may use."""

    path: Path
    name: str
    overrides: tuple[str, ...] = ()
    root: Path | None = None
    variants: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()

    @property
    def suffix(self) -> str:
        """Suffix of the names of its baseline and pictures, after the diagram's name."""
        return "".join(f".{chosen}" for chosen in self.variants)


def cases(path: Path, *, root: Path | None = None, blocks: tuple[str, ...] = ()) -> list[ClaimCase]:
    """The tests of a diagram file: one with the default choices and, with `each_variant`, one for
    each other choice. blocks: packages of blocks that it may use."""
    first = ClaimCase(path, path.stem, root=root, blocks=blocks)
    return [first, *(_with(first, chosen) for chosen in _other_choices(path))]


def _with(case: ClaimCase, chosen: str) -> ClaimCase:
    return replace(case, name=f"{case.name}-{chosen}", variants=(chosen,))


def _other_choices(path: Path) -> list[str]:
    """The choices other than the defaults, as `slot=choice`, if the file has `each_variant`."""
    if not _EACH.search(_text(path)):
        return []
    from spart_blocks.diagram import load_expectations
    from spart_blocks.diagram.written.variants import choices_in

    try:
        expected = load_expectations(path)
        slots = choices_in(path)
    except SpartError:
        return []  # what is wrong is told by the test of the defaults
    if expected is None or not expected.section.each_variant:
        return []
    return [f"{slot}={choice}" for slot, (_default, *others) in slots.items() for choice in others]


def is_test(path: Path) -> bool:
    """Whether a file looks like a diagram with `expect:`. Never raises."""
    if path.suffix.lower() not in SUFFIXES:
        return False
    text = _text(path)
    return all(section.search(text) for section in _SECTIONS)


def _text(path: Path) -> bytes:
    """The content of a file; empty if it is too large, unreadable, or no regular file, such as a
    pipe, from which reading could block."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            return b""
        return path.read_bytes()
    except (OSError, ValueError):
        return b""


def line_of_expect(path: Path) -> int:
    """The line number of `expect:`, from 0; 0 if it is not found."""
    text = _text(path)
    found = _SECTIONS[0].search(text)
    return text.count(b"\n", 0, found.start()) if found else 0


def found_below(folder: Path) -> Iterator[Path]:
    """All tests below a folder, sorted. Hidden folders, virtual environments, node_modules and
    links to folders are skipped."""
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and name not in _NOT_OURS
            and not Path(here, name, "pyvenv.cfg").exists()
        )
        for name in sorted(files):
            if is_test(Path(here, name)):
                yield Path(here, name)
