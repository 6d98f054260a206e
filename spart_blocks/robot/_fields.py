"""Reading nested mappings (from YAML, JSON or Python) with a fault for each wrong field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spart_blocks.base.errors import DiagramError, Place, RobotError
from spart_blocks.robot._faults import Faults, quote
from spart_blocks.robot._record import Floats
from spart_blocks.robot.checks import MAGNITUDE_LIMIT, ROUNDING, inertia_faults

if TYPE_CHECKING:
    from spart_blocks.base.document import Document, Key

# --- files ----------------------------------------------------------------------------------------


def read_yaml(path: str | Path, sections: str) -> Document:
    """A file's values and their places; sections: the contents of such a file. RobotError with
    every fault of its text.
    """
    from spart_blocks.base.document import read_document

    try:
        return read_document(Path(path), sections)
    except DiagramError as error:
        raise RobotError(error.faults) from None


MISSING = object()  # a missing mapping, already noted


class FieldReader:
    """Reads the fields of one mapping. `where` is its path, such as links[2]; `keys` its place
    in a document, if known.
    """

    def __init__(
        self,
        data: object,
        where: str,
        faults: Faults,
        known: Sequence[str],
        document: Document | None = None,
        keys: tuple[Key, ...] = (),
    ) -> None:
        self.where, self.faults = where, faults
        self.document, self.keys = document, keys
        self.usable = isinstance(data, Mapping)
        if not self.usable and data is not MISSING:
            self.note(f"must be a mapping with {', '.join(known)}, not {quote(data)}")
        self.data: Mapping[Any, Any] = data if isinstance(data, Mapping) else {}
        for key in self.data:
            if key not in known:
                hint = faults.hint_for(str(key), known)
                place = self.document.key_place(*keys, key) if self.document else None
                faults.add(f"{self.path(str(key))}: unknown field", place, hint)

    def inner(self, key: str, known: Sequence[str]) -> FieldReader:
        """A reader of a required mapping within this one."""
        value = self.get(key)
        there = value if key in self.data else MISSING
        keys = (*self.keys, key)
        return FieldReader(there, self.path(key), self.faults, known, self.document, keys)

    def path(self, key: str) -> str:
        """The path of a field, for messages."""
        return f"{self.where}.{key}" if self.where else key

    def note(self, message: str, key: str = "") -> None:
        """Note a fault of a field, or of the mapping itself."""
        where = self.path(key) if key else self.where or "the data"
        self.faults.add(f"{where}: {message}", self.place(key))

    def place(self, key: str = "") -> Place | None:
        """Where a field, or the mapping itself, is written, if that is known."""
        keys = (*self.keys, key) if key else self.keys
        return self.document.place(*keys) if self.document else None

    def get(self, key: str) -> Any:
        """A required field, or None with the fault noted."""
        if key not in self.data and self.usable:
            self.note("is missing", key)
        return self.data.get(key)

    def array(self, key: str, *shapes: tuple[int, ...]) -> Floats:
        """Numbers of the first shape, or of another of the same size; zeros at a fault."""
        value = self.get(key)
        return self.as_array(value, key, *shapes) if key in self.data else np.zeros(shapes[0])

    def as_array(self, value: object, key: str, *shapes: tuple[int, ...]) -> Floats:
        """A value as floats of the first shape; zeros, with the fault noted, if it is not."""
        zeros = np.zeros(shapes[0])
        try:
            array = np.asarray(value)
        except (ValueError, TypeError, RecursionError):
            array = np.empty(0, dtype=object)
        if array.dtype.kind not in "iuf":
            wanted = f"numbers of shape {shapes[0]}" if shapes[0] else "a number"
            self.note(f"must be {wanted}, not {quote(value)}", key)
        elif array.shape not in shapes:
            self.note(f"has shape {array.shape}; it must be {shapes[0]}", key)
        elif not np.isfinite(array).all():
            self.note("has an entry that is not finite", key)
        elif np.abs(array).max(initial=0.0) > MAGNITUDE_LIMIT:
            self.note(f"has an entry beyond {MAGNITUDE_LIMIT:g}", key)
        else:
            return array.astype(float).reshape(shapes[0])
        return zeros

    def number(self, key: str, default: float | None = None) -> float:
        """One number; the default, if any, for a missing field."""
        if default is not None and key not in self.data:
            return default
        return float(self.array(key, ()))

    def integer(self, key: str) -> int | None:
        """One integer (also 1.0, as written by MATLAB), or None at a fault."""
        before = len(self.faults.found)
        value = self.number(key)
        if len(self.faults.found) > before:
            return None
        if value != int(value):
            self.note(f"must be a whole number, not {value:g}", key)
            return None
        return int(value)

    def text(self, key: str, default: str) -> str:
        """A name; the default where the field is missing."""
        value = self.data.get(key, default)
        if not isinstance(value, str) or not value:
            self.note(f"must be a text, not {quote(value)}", key)
            return default
        return value

    def items(self, key: str) -> Sequence[Any]:
        """A list, empty at a fault."""
        value = self.get(key)
        if isinstance(value, (list, tuple)):
            return value
        if key in self.data:
            self.note(f"must be a list, not {quote(value)}", key)
        return ()

    def transform(self, key: str) -> Floats:
        """A rigid transform (4,4) [m]; the identity at a fault."""
        before = len(self.faults.found)
        T = self.array(key, (4, 4))
        if len(self.faults.found) > before or not self.usable:
            return np.eye(4)
        R = T[:3, :3]
        if not np.array_equal(T[3], [0, 0, 0, 1]):
            self.note("is no homogeneous transform: its last row must be 0 0 0 1", key)
        elif np.abs(R @ R.T - np.eye(3)).max() > ROUNDING or np.linalg.det(R) < 0:
            self.note("is no rigid transform: its first three columns must be a rotation", key)
        else:
            return T
        return np.eye(4)

    def body(self, mass_key: str, inertia_key: str) -> tuple[float, Floats]:
        """A mass [kg] and an inertia (3,3) [kg m^2] about the centre of mass."""
        before = len(self.faults.found)
        mass, inertia = self.number(mass_key), self.array(inertia_key, (3, 3))
        if len(self.faults.found) == before:
            for message in inertia_faults(mass, inertia):
                self.note(message)
        return mass, inertia


@contextmanager
def noting(reader: FieldReader, key: str) -> Iterator[None]:
    """Context manager that turns errors into faults of this field of the reader."""
    try:
        yield
    except RobotError as error:
        where = reader.path(key) if key else reader.where
        for fault in error.faults:
            reader.faults.add(f"{where}: {fault.message}", reader.place(key), fault.hint)
