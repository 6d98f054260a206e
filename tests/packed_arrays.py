"""The arrays of a recording, as the viewer unpacks them."""

from base64 import b64decode

import numpy as np

_KINDS = {"f32": "f4", "f64": "f8", "i16": "i2", "i32": "i4", "u8": "u1", "u16": "u2", "u32": "u4"}


def unpacked(packed):
    """The values of a packed array."""
    kind = _KINDS[packed["type"]]
    planes = np.frombuffer(b64decode(packed["data"]), np.uint8)
    numbers = planes.reshape(np.dtype(kind).itemsize, -1).T.tobytes()
    columns = np.frombuffer(numbers, f"<{kind}").reshape(packed["shape"][::-1])
    values = columns.T.astype(float)
    if packed.get("delta"):
        values = np.cumsum(values, axis=0)
    offset = np.asarray(packed.get("offset", 0.0))
    if values.ndim == 1:
        offset = offset.reshape(-1)[0]
    return offset + packed.get("scale", 1.0) * values
