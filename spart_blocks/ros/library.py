"""Types by name: those that come with this package, and those in folders of the user.

A folder has the layout of an installed ROS: FOLDER/package/msg/Name.msg and
FOLDER/package/srv/Name.srv. The bundled ones are the field lists of ROS 2 Jazzy; but for the types
that docs/ros.md names they are those of Iron to Lyrical, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from spart_blocks.base.errors import Fault, InputError, did_you_mean
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
            try:
                with path.open(encoding="utf-8") as file:
                    text = file.read(MOST_TEXT + 1)
            except FileNotFoundError:
                continue
            except (OSError, UnicodeDecodeError) as error:
                raise InputError(f"{path} cannot be read: {error}") from None
            if len(text) > MOST_TEXT:
                raise InputError(f"{path} has more than {MOST_TEXT} characters")
            return text, str(path)
        hint = did_you_mean(full, self.names(kind)) or ""
        if not hint.startswith("did you mean"):
            hint = f"definitions: FOLDER names a folder with {package}/{kind}/{short}.{kind}"
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


def from_texts(texts: dict[str, str]) -> Find:
    """A finder of messages that are defined by texts, by full name, as those in the schemas of
    recordings; others are the bundled ones."""

    class _Texts(Library):
        def _text(self, full: str) -> tuple[str, str]:
            return (texts[full], full) if full in texts else super()._text(full)

    return _Texts().message
