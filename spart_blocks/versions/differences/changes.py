"""One change between two diagram files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["added", "removed", "renamed", "retyped", "moved", "changed", "rerouted"]

SIGNS: Mapping[str, str] = {
    "added": "+",
    "removed": "-",
    "renamed": "~",
    "retyped": "~",
    "moved": ">",
    "changed": "~",
    "rerouted": "~",
}
"""The sign in front of each kind of change in a list."""


class _Absent:
    """The type of ABSENT: no value, where None is a value."""

    def __repr__(self) -> str:
        return "absent"


ABSENT = _Absent()


def kind_of(old: Any, new: Any) -> Kind:
    """Whether a value was added, removed or changed."""
    return "added" if old is ABSENT else "removed" if new is ABSENT else "changed"


BLOCK, PARAMETER, INITIAL, WIRE = "block", "parameter", "initial state", "wire"


@dataclass(frozen=True)
class Change:
    """One change. subject: what has changed, such as block, parameter, wire or run. path: its name,
    `law.kp`, or `servo/gain` in a subsystem, as in the new file; of something removed, as in the
    old one. old, new: the values, ABSENT for none; the names of a renamed block, the types of a
    retyped one, the paths of a moved one, the ends of a rerouted wire. unit: of a number. note: a
    remark."""

    subject: str
    kind: Kind
    path: str
    old: Any = ABSENT
    new: Any = ABSENT
    unit: str = ""
    note: str = ""

    def as_data(self) -> dict[str, Any]:
        """The change as plain values for JSON, without what is empty or ABSENT."""
        data: dict[str, Any] = {"subject": self.subject, "kind": self.kind, "path": self.path}
        values = {"old": self.old, "new": self.new}
        data |= {name: value for name, value in values.items() if value is not ABSENT}
        texts = {"unit": self.unit, "note": self.note}
        return data | {name: text for name, text in texts.items() if text}
