"""reStructuredText as plain lines: the subset used in docstrings of blocks.

A text is a list of elements, found by their first line and their indentation; each becomes lines
for a terminal. A line that begins with two blanks is not wrapped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from textwrap import dedent

from spart_blocks.descriptions.formulas import formula, formula_lines

KEPT = "  "
"""Beginning of a line that is not wrapped: of code, of a table, of a formula, of a nested list."""

_DIRECTIVE = re.compile(r"\.\.\s*([\w-]+)::?(?:\s+(.*))?$")
_FIELD = re.compile(r":(\w+)(?:\s+([^:`]+))?:(?!`)\s*(.*)")
_ITEM = re.compile(r"([*+-]|\d+[.)])\s+(.*)")
_BORDER = re.compile(r"=+(\s+=+)+\s*")
_GRID = re.compile(r"\+([-=]+\+)+\s*")
_ROW = re.compile(r"\s*(\*\s+)?-\s+(.*)")

_MATH = re.compile(r":math:`([^`]*)`")
_LINK = re.compile(r"`([^`<]*?)\s*<[^>]*>`_+")
_ROLE = re.compile(r":[\w:]+:`~?([^`<]*?)(?:\s*<[^>]*>)?`")
_ANNOUNCING = re.compile(r"::(?=\s|$)")
_STRAY = re.compile(r"\$(?=\w+_\{)")
_PUT_IN = {"|rarr|": "→", "|br|": " ", "``": "", "**": ""}

ASIDES = ("note", "warning", "tip", "hint", "important", "caution", "attention", "danger")
_CODE = ("code", "code-block", "sourcecode", "parsed-literal")


@dataclass(frozen=True)
class Piece:
    """kind: text, item, code, table, field or the name of a directive; head: its marker, its
    name or its argument; lines: what is in it, without the indentation."""

    kind: str
    head: str
    lines: tuple[str, ...]


def plain(text: str) -> str:
    """A text in one line without its marks."""
    text = _MATH.sub(lambda found: formula(found[1]), text)
    text = _STRAY.sub("", _ROLE.sub(r"\1", _LINK.sub(r"\1", text)))
    text = _ANNOUNCING.sub(":", text)
    for mark, sign in _PUT_IN.items():
        text = text.replace(mark, sign)
    return " ".join(text.split())


def pieces(lines: Sequence[str]) -> Iterator[Piece]:
    """The pieces of a text, in their order. What is indented below a paragraph that ends in
    '::' is code."""
    at = 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        piece, end = _piece(lines, at)
        yield piece
        if piece.kind == "text" and piece.lines[-1].endswith("::"):
            depth = _depth(lines[at])
            body, end = _below(lines, end, depth)
            yield Piece("code", "", _dedented(body))
        at = end


def _piece(lines: Sequence[str], at: int) -> tuple[Piece, int]:
    """The piece that begins here, and where the next one can begin."""
    line, depth = lines[at].strip(), _depth(lines[at])
    for mark, kind in ((_BORDER, "bordered"), (_GRID, "grid")):
        if mark.fullmatch(line):
            end = _paragraph_end(lines, at + 1)
            return Piece(kind, "", _dedented(lines[at:end])), end
    body, end = _below(lines, at + 1, depth)
    if found := _DIRECTIVE.match(line):
        return Piece(found[1], found[2] or "", _dedented(body)), end
    if found := _FIELD.match(line):
        name = f"{found[1]} {(found[2] or '').strip()}".strip()
        return Piece("field", name, (found[3], *_dedented(body))), end
    if found := _ITEM.match(line):
        column = depth + found.start(2)
        inside = (text[min(column, _depth(text)) :] for text in body)
        return Piece("item", found[1], (found[2], *inside)), end
    if line.startswith(".. "):
        return Piece("comment", "", ()), end
    end = _paragraph_end(lines, at + 1)
    end = next((k for k in range(at + 1, end) if _begins(lines[k].strip())), end)
    return Piece("text", "", tuple(text.strip() for text in lines[at:end])), end


def _paragraph_end(lines: Sequence[str], at: int) -> int:
    return next((k for k in range(at, len(lines)) if not lines[k].strip()), len(lines))


def _begins(line: str) -> bool:
    """Whether a line begins a piece of its own, within a paragraph too."""
    marks = (_DIRECTIVE, _FIELD, _BORDER)
    return line.startswith(("* ", ".. ")) or any(mark.match(line) for mark in marks)


def _below(lines: Sequence[str], at: int, depth: int) -> tuple[Sequence[str], int]:
    """The lines from here on that are indented by more than a depth, and where they end."""
    end = at
    while end < len(lines) and (not lines[end].strip() or _depth(lines[end]) > depth):
        end += 1
    return lines[at:end], end


def _dedented(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(dedent("\n".join(lines)).strip("\n").splitlines())


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


# Pieces as lines


def readable(lines: Sequence[str]) -> list[str]:
    """A text's paragraphs, each in one line, and the lines that keep their form."""
    return [line for piece in pieces(lines) for line in shown(piece)]


def shown(piece: Piece) -> list[str]:
    """One piece as lines."""
    if piece.kind == "text":
        return [plain(" ".join(piece.lines))]
    if piece.kind == "item":
        return _under(f"{'*' if piece.head in '*+-' else piece.head} ", piece.lines)
    if piece.kind == "math":
        return [KEPT + line for line in formula_lines("\n".join([piece.head, *piece.lines]))]
    if piece.kind in _CODE:
        return [f"{KEPT}{line}" for line in piece.lines if not _FIELD.match(line)]
    if piece.kind in ("bordered", "grid", "list-table"):
        return _aligned([[plain(cell) for cell in row] for row in table_rows(piece)])
    if piece.kind in ASIDES:
        return aside(piece.kind, [piece.head, *piece.lines])
    return []


def aside(kind: str, lines: Sequence[str]) -> list[str]:
    """A note or a warning: its word stands before its text, or above its list."""
    word = f"{kind.capitalize()}:"
    first, *others = readable(lines) or [""]
    listed = first.startswith((KEPT, "* "))
    return [word, first, *others] if listed else [f"{word} {first}", *others]


def _under(marker: str, lines: Sequence[str]) -> list[str]:
    """A list's entry: its marker before the first line, what else is in it below."""
    first, *others = readable(lines) or [""]
    return [marker + first, *(KEPT + line for line in others)]


def table_rows(piece: Piece) -> list[list[str]]:
    """The cells of a table as they are written, its head first."""
    read = {"bordered": _bordered, "grid": _grid, "list-table": _listed}
    return read[piece.kind](piece.lines)


def _bordered(lines: Sequence[str]) -> list[list[str]]:
    starts = [found.start() for found in re.finditer("=+", lines[0])]
    rows: list[list[str]] = []
    for line in lines:
        if not line.startswith("="):
            ends = [*starts[1:], None]
            cells = [line[a:b].strip() for a, b in zip(starts, ends, strict=True)]
            _append(rows, cells, goes_on=not cells[0])
    return rows


def _grid(lines: Sequence[str]) -> list[list[str]]:
    rows: list[list[str]] = []
    fresh = True
    for line in lines:
        if line.startswith("|"):
            _append(rows, [cell.strip() for cell in line.strip("|").split("|")], goes_on=not fresh)
        fresh = line.startswith("+")
    return rows


def _append(rows: list[list[str]], cells: list[str], goes_on: bool) -> None:
    """A row, or further lines of the cells of the last one."""
    if goes_on and rows:
        rows[-1] = [f"{a} {b}".strip() for a, b in zip_longest(rows[-1], cells, fillvalue="")]
    else:
        rows.append(cells)


def _listed(lines: Sequence[str]) -> list[list[str]]:
    rows: list[list[str]] = []
    for line in lines:
        entry = _ROW.match(line)
        if entry is None:
            if rows and not line.strip().startswith(":"):
                rows[-1][-1] += f" {line.strip()}"
        elif entry[1]:
            rows.append([entry[2]])
        elif rows:
            rows[-1].append(entry[2])
    return rows


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """A table's rows with their columns one below the other."""
    widths = [max(map(len, column)) for column in zip_longest(*rows, fillvalue="")]
    return [
        KEPT + "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=False)).rstrip()
        for row in rows
    ]
