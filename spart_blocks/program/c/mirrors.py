"""Structs of C that Python fills: compile-time checks that both sides have one layout."""

from __future__ import annotations

import ctypes


def mirrored(mirrors: dict[str, type[ctypes.Structure]]) -> str:
    """C that compiles only where each struct, by its name in C, has every field of its mirror at
    its place and of its size, and no more. A field that is a word of Python ends in _ there."""
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
    """C99 has no _Static_assert; an array of a negative size does not compile either."""
    return f"typedef char sb_mirror_{name}[{condition} ? 1 : -1];"
