"""Fragments of C: tables, choices, strings and comments, and the headers of the package."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any

_A_LINE = 8
_HERE = Path(__file__).parent
_INCLUDED = re.compile(r'^#include "(\w+\.h)"$', re.MULTILINE)


def header(path: str) -> str:
    """The text of a file of the package, such as `export/c/sb_fmu.h`."""
    return resources.files("spart_blocks").joinpath(path).read_text("utf-8")


def with_headers(text: str, headers: Mapping[str, str] = MappingProxyType({})) -> str:
    """C text with #include lines replaced by the headers: those given, and those of program/c."""

    def included(found: re.Match[str]) -> str:
        name = found[1]
        if name not in headers and not (_HERE / name).is_file():
            return found[0]
        return with_headers(headers.get(name) or (_HERE / name).read_text("utf-8"), headers)

    return _INCLUDED.sub(included, text)


def step_headers(slide: bool = False) -> dict[str, str]:
    """The headers that a host of the step includes, by name. slide: with that of motions along
    surfaces.
    """
    found = {"sb_step.h": with_headers('#include "sb_step.h"')}
    return {**found, "sb_slide.h": header("program/c/sb_slide.h")} if slide else found


def indented(lines: Iterable[str]) -> list[str]:
    """Lines of C, indented by one level."""
    return [f"  {line}" for line in lines]


def macros(values: Mapping[str, Any]) -> str:
    """A `#define` for each value."""
    return "\n".join(f"#define {name} {value}" for name, value in values.items())


def table(
    kind: str,
    name: str,
    entries: Iterable[Any],
    *,
    head: str = "static const",
    empty: str = "0",
    size: int | str = "",
) -> str:
    """A constant array. If there are no entries it contains `empty`, since C has no arrays of
    length zero. size: the last dimension, if it differs from the number of entries.
    """
    texts = [str(entry) for entry in entries] or [empty]
    step = 1 if texts[0].startswith(('{"', "{")) else _A_LINE
    rows = [", ".join(texts[k : k + step]) for k in range(0, len(texts), step)]
    if len(rows) == 1:
        return f"{head} {kind} {name}[{size}] = {{{rows[0]}}};"
    body = ",\n".join(indented(rows))
    return f"{head} {kind} {name}[{size}] = {{\n{body}\n}};"


def listed(entries: Sequence[Any]) -> str:
    """A list of values in braces."""
    return "{" + (", ".join(map(str, entries)) or "0") + "}"


def c_comment(text: str) -> str:
    """A text that can be in a C comment: in one line, without the marks of comments."""
    shown = text.encode("ascii", "replace").decode()
    return " ".join(shown.split()).replace("*/", "* /").replace("/*", "/ *")


def c_string(text: str) -> str:
    """A text as a C string."""
    safe = "".join(c if c.isascii() and c.isprintable() and c not in '"\\?' else "_" for c in text)
    return f'"{safe}"'


def exact_string(text: str) -> str:
    """A C string with exactly the bytes of a text in UTF-8: others than plain ones are escaped."""
    plain = b" !#$%&'()*+,-./:;<=>@[]^_`{|}~"
    found = "".join(
        chr(byte)
        if byte in plain or (chr(byte).isascii() and chr(byte).isalnum())
        else f"\\{byte:03o}"
        for byte in text.encode("utf-8", "replace")
    )
    return f'"{found}"'


# --- Structs that Python fills --------------------------------------------------------------------


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
