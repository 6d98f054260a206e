"""Writes drawings as PNG files (ISO/IEC 15948). Their rows are not filtered: areas of one colour
and repeated rows compress as well without, and Pillow's choice of a filter for each row takes as
long as the compression."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

_INCH = 0.0254  # m


def png_bytes(pixels: NDArray[np.uint8], dpi: float) -> bytes:
    """A PNG file of a picture (height, width, 3), of red, green and blue. dpi: dots per inch."""
    height, width, _ = pixels.shape
    rows: NDArray[Any] = np.zeros((height, 1 + 3 * width), np.uint8)  # each after its filter, 0
    rows[:, 1:] = pixels.reshape(height, -1)
    dots = round(dpi / _INCH)  # per metre
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"pHYs", struct.pack(">IIB", dots, dots, 1)),
        (b"IDAT", zlib.compress(rows.data)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
