"""Changes: what a diff is made of."""

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
"""What stands before a change in a list."""


class _Absent:
    """Stands for no value, where None is one."""

    def __repr__(self) -> str:
        return "absent"


ABSENT = _Absent()


def kind_of(old: Any, new: Any) -> Kind:
    """Whether a value was added, removed or changed."""
    return "added" if old is ABSENT else "removed" if new is ABSENT else "changed"


BLOCK, PARAMETER, INITIAL, WIRE = "block", "parameter", "initial state", "wire"


@dataclass(frozen=True)
class Change:
    """One change. subject: what changed, such as block, parameter, wire or run. path: its name,
    `law.kp` or `servo/gain` in a subsystem, by the new file; of what is removed, by the old one.
    old, new: the values, ABSENT for none: of a renamed block its names, of a retyped one its types,
    of a moved one the paths, of a rerouted wire its ends. unit: of a number. note: what else to
    know.
    """

    subject: str
    kind: Kind
    path: str
    old: Any = ABSENT
    new: Any = ABSENT
    unit: str = ""
    note: str = ""

    def as_data(self) -> dict[str, Any]:
        """It as plain values; old and new only where there are any."""
        data: dict[str, Any] = {"subject": self.subject, "kind": self.kind, "path": self.path}
        values = {"old": self.old, "new": self.new}
        data |= {name: value for name, value in values.items() if value is not ABSENT}
        texts = {"unit": self.unit, "note": self.note}
        return data | {name: text for name, text in texts.items() if text}
