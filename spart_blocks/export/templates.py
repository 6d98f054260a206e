"""The files that exports share: those of the C runtime, and templates."""

from __future__ import annotations

import re

from spart_blocks.program.c.text import header


def runtime_file(name: str) -> str:
    """The text of a file of the C runtime."""
    return header(f"export/c/{name}")


def filled(file: str, name: str, **words: object) -> str:
    """The text of `export/c/FILE.in` with its words in capitals replaced: NAME by the name of the
    subdiagram in C, others as given. A word alone in its line stands for any number of lines, each
    with its end."""
    values = {"NAME": name, **{word: str(value) for word, value in words.items()}}
    known = "|".join(sorted(values, key=len, reverse=True))
    pattern = rf"^({known})\n|(?<![A-Z_])({known})(?![A-Z])"
    text = runtime_file(f"{file}.in")
    return re.sub(pattern, lambda found: values[found[1] or found[2]], text, flags=re.MULTILINE)
