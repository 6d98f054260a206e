"""The protocol on the socket of a running loop: lines of JSON, which also carry rows of numbers.

A client first sends the token: {"token": ...}. The loop answers {"hello": ...}, or
{"refused": why} and closes. Then the client sends requests,
{"do": "describe" | "status" | "set" | "watch"}, and receives {"answer": ...} or
{"faults": [[message, hint], ...]}. In between it receives the signals that it watches,
{"rows": ..., "lost": n}, and at the end {"ended": why}.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError

Floats = NDArray[np.float64]

VERSION = 1
MOST_ASKED = 2**20
MOST_TOLD = 64 * 2**20
"""Most bytes of a line to the loop, and from it."""
_NUMBER = np.dtype("<f8")


class BadMessageError(Exception):
    """The data received is not a message of this protocol; the text gives the reason."""


class LineSplitter:
    """Splits received bytes into lines. A line longer than `most` bytes is refused."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._bytes = bytearray()
        self._searched = 0

    def add(self, data: bytes) -> None:
        self._bytes += data

    def next(self) -> bytes | None:
        """The next line without its end, if it is complete. Raises BadMessageError."""
        end = self._bytes.find(b"\n", self._searched)
        if (len(self._bytes) if end < 0 else end) > self.most:
            raise BadMessageError(f"a message is longer than {self.most} bytes")
        if end < 0:
            self._searched = len(self._bytes)
            return None
        line = bytes(self._bytes[:end])
        del self._bytes[: end + 1]
        self._searched = 0
        return line


def written(message: Mapping[str, Any]) -> bytes:
    """A message as a line."""
    return json.dumps(message, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def read(line: bytes) -> dict[str, Any]:
    """The message of a line. Raises BadMessageError."""
    try:
        message = json.loads(line.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError):  # a UnicodeDecodeError is a ValueError
        raise BadMessageError("a message is not a line of JSON") from None
    if not isinstance(message, dict):
        raise BadMessageError("a message is not a JSON object")
    return message


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def packed(rows: Floats) -> str:
    """Rows (k, width) as text, without rounding."""
    return base64.b64encode(np.ascontiguousarray(rows, _NUMBER).tobytes()).decode()


def unpacked(text: Any, width: int) -> Floats:
    """The rows (k, width) in a text. Raises BadMessageError."""
    try:
        raw = base64.b64decode(text, validate=True)
        return np.frombuffer(raw, _NUMBER).astype(float).reshape(-1, width)
    except (TypeError, ValueError, binascii.Error):
        raise BadMessageError(f"rows are not rows of {width} numbers") from None


def plain_faults(error: InputError) -> list[list[str | None]]:
    """The faults of an error, as JSON values."""
    return [[fault.message, fault.hint] for fault in error.faults]


def faults_of(plain: Sequence[Any]) -> list[Fault]:
    """The faults that `plain_faults` wrote."""
    return [Fault(str(message), hint=hint and str(hint)) for message, hint in plain]
