"""Types by name: those that come with this package, and those in folders of the user.

A folder has the layout of an installed ROS: FOLDER/package/msg/Name.msg and
FOLDER/package/srv/Name.srv. The bundled ones are the field lists of ROS 2 Jazzy; but for the types
that docs/ros.md names they are those of Iron to Lyrical, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from spart_blocks.base.errors import Fault, InputError, Place, did_you_mean
from spart_blocks.ros.definitions import (
    MOST_DEPTH,
    MOST_TEXT,
    Find,
    MessageType,
    ServiceType,
    full_name,
    read_message,
    read_service,
)

_BAR = re.compile(r"={3,}\s*")
_MSG = re.compile(r"MSG:\s*(\S+)\s*")
BUNDLED = Path(__file__).parent / "interfaces"


class Library:
    """The types of some folders, the first that has a name wins, and the bundled ones."""

    def __init__(self, folders: Iterable[str | Path] = ()) -> None:
        self.folders = (*map(Path, folders), BUNDLED)
        self._messages: dict[str, MessageType] = {}
        self._open: list[str] = []

    def message(self, name: str) -> MessageType:
        """The message of a name, "package/Name" or "package/msg/Name".

        InputError if there is none, with the names near it, or if its definition is wrong.
        """
        full = _full(name, "msg")
        if full not in self._messages:
            if full in self._open:
                raise InputError(f"{full} contains itself")
            if len(self._open) >= MOST_DEPTH:
                raise InputError(f"messages are nested in more than {MOST_DEPTH} levels")
            self._open.append(full)
            try:
                text, file = self._text(full)
                self._messages[full] = read_message(text, full, self.message, file)
            finally:
                self._open.pop()
        return self._messages[full]

    def service(self, name: str) -> ServiceType:
        """The service of a name, "package/Name" or "package/srv/Name"."""
        full = _full(name, "srv")
        text, file = self._text(full)
        return read_service(text, full, self.message, file)

    def names(self, kind: str = "msg") -> tuple[str, ...]:
        """The full names of all types, sorted."""
        found = {
            f"{path.parent.parent.name}/{kind}/{path.stem}"
            for folder in self.folders
            for path in folder.glob(f"*/{kind}/*.{kind}")
        }
        return tuple(sorted(found))

    def _text(self, full: str) -> tuple[str, str]:
        """The text of a definition, and its file."""
        package, kind, short = full.split("/")
        for folder in self.folders:
            path = folder / package / kind / f"{short}.{kind}"
            if path.is_file():
                return _read(path), str(path)
        hint = did_you_mean(full, self.names(kind)) or ""
        if not hint.startswith("did you mean"):
            hint = f"definitions: FILE names a file with its definition, {short}.{kind}"
        raise InputError(Fault(f"there is no type {full}", hint=hint))


def _full(name: str, kind: str) -> str:
    try:
        return full_name(name, kind)
    except ValueError as error:
        raise InputError(str(error)) from None


@cache
def bundled() -> Library:
    """The bundled types alone."""
    return Library()


class _Texts(Library):
    """Types by texts, which win over the bundled ones. files: where the texts are from."""

    def __init__(self, texts: Mapping[str, str], file: str) -> None:
        super().__init__()
        self._texts, self._file = texts, file

    def _text(self, full: str) -> tuple[str, str]:
        if full in self._texts:
            return self._texts[full], self._file or full
        return super()._text(full)


def from_texts(texts: Mapping[str, str], file: str = "") -> Find:
    """A finder of messages that are defined by texts, by full name; others are the bundled ones.
    file: where they are from, for errors."""
    return _Texts(texts, file).message


def read_definitions(path: Path, name: str) -> Find:
    """A finder of the message of a name, which a file defines, and of others behind it.

    The file is a .msg file. Behind it, definitions of other types may follow, each behind a line of
    ===== and a line "MSG: package/Name", as in the schemas of recordings (MCAP, ros2msg).
    """
    texts: dict[str, str] = {}
    full, lines = _full(name, "msg"), _read(path).splitlines()
    first = 0
    for k, line in enumerate([*lines, "==="]):
        if not _BAR.fullmatch(line):
            continue
        part = lines[first:k]
        if first:  # behind a bar
            found = _MSG.fullmatch(part[0]) if part else None
            if found is None:
                place = Place(str(path), first + 1)
                raise InputError(Fault("behind ===== comes a line MSG: package/Name", place))
            full, part = _full(found[1], "msg"), ["", *part[1:]]
        texts[full] = "\n" * first + "\n".join(part)  # so that lines keep their numbers
        first = k + 1
    return from_texts(texts, str(path))


def _read(path: Path) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(MOST_TEXT + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    if len(text) > MOST_TEXT:
        raise InputError(f"{path} has more than {MOST_TEXT} characters")
    return text
