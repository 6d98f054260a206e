"""Compile-time checks that C structs filled by Python have the same layout on both sides."""

from __future__ import annotations

import ctypes


def mirrored(mirrors: dict[str, type[ctypes.Structure]]) -> str:
    """C that compiles only if each struct, by its C name, has exactly the fields of its Python
    mirror, with the same offsets and sizes. A field whose C name is a keyword of Python ends in _
    there.
    """
    lines = ["#include <stddef.h>"]
    for name, mirror in mirrors.items():
        lines.append(_claim(f"{name}_whole", f"sizeof({name}) == {ctypes.sizeof(mirror)}"))
        for field in (field[0] for field in mirror._fields_):
            place, member = getattr(mirror, field), field.rstrip("_")
            lines.append(
                _claim(
                    f"{name}_{member}",
                    f"offsetof({name}, {member}) == {place.offset} && "
                    f"sizeof((({name} *)0)->{member}) == {place.size}",
                )
            )
    return "\n".join(lines) + "\n"


def _claim(name: str, condition: str) -> str:
    """A static assertion. C99 has no _Static_assert, but an array of negative size does not
    compile either.
    """
    return f"typedef char sb_mirror_{name}[{condition} ? 1 : -1];"
