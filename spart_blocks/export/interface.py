"""Names of a subdiagram in C: the members of its structs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.program import Slot
from spart_blocks.program.subdiagram import Subdiagram

LONGEST_NAME = 48
_KEYWORDS = frozenset(
    (
        *("auto", "break", "case", "char", "const", "continue", "default", "do", "double"),
        *("else", "enum", "extern", "float", "for", "goto", "if", "inline", "int", "long"),
        *("register", "restrict", "return", "short", "signed", "sizeof", "static", "struct"),
        *("switch", "typedef", "union", "unsigned", "void", "volatile", "while"),
        *("asm", "bool", "false", "true", "main", "none", "typeof", "typeof_unqual"),
        # of C++ and of C23
        *("alignas", "alignof", "and", "and_eq", "bitand", "bitor", "catch", "char8_t"),
        *("char16_t", "char32_t", "class", "compl", "concept", "const_cast", "consteval"),
        *("constexpr", "constinit", "co_await", "co_return", "co_yield", "decltype", "delete"),
        *("dynamic_cast", "explicit", "export", "friend", "mutable", "namespace", "new"),
        *("noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private"),
        *("protected", "public", "reinterpret_cast", "requires", "static_assert", "static_cast"),
        *("template", "this", "thread_local", "throw", "try", "typeid", "typename", "using"),
        *("virtual", "wchar_t", "xor", "xor_eq"),
        # macros of the headers that main.c includes, and of compilers
        *("BUFSIZ", "EOF", "HUGE_VAL", "HUGE_VALF", "INFINITY", "NAN", "NULL", "RAND_MAX"),
        *("errno", "linux", "stderr", "stdin", "stdout", "unix"),
    )
)
_OF_THE_FOLDER = frozenset(
    (
        *("all", "board", "build", "check", "clean", "makefile"),  # what make and CMake know
        *("sb", "sb_link", "sb_loop"),  # names and files of the runtime
        # headers of C and POSIX: NAME.h would hide them where the folder is searched first
        *("assert", "complex", "ctype", "errno", "fenv", "inttypes", "iso646", "limits", "locale"),
        *("math", "poll", "pthread", "sched", "setjmp", "signal", "stdarg", "stdbool", "stddef"),
        *("stdint", "stdio", "stdlib", "string", "strings", "tgmath", "time", "unistd", "wchar"),
    )
)
"""Reserved names: the files of a subdiagram would conflict with others."""


@dataclass(frozen=True)
class Member:
    """A member of a struct. name: in the diagram. field: in C. start: index of its first entry in
    the subdiagram's vector (p, or the signals). place: index of its first entry in the struct."""

    name: str
    field: str
    shape: tuple[int, ...]
    start: int
    place: int

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def entries(self) -> list[str]:
        """The C expression of each entry, in row-major order."""
        if self.shape == ():
            return [self.field]
        return [f"{self.field}[{k}]" for k in range(self.size)]


@dataclass(frozen=True)
class Interface:
    """The structs of a subdiagram. name: prefix of all its C names."""

    name: str
    inputs: tuple[Member, ...]
    outputs: tuple[Member, ...]
    parameters: tuple[Member, ...]

    def entries_of_p(self) -> list[str]:
        """The C expression of each entry of p, an entry of an input or of a parameter."""
        found = [("u", m) for m in self.inputs] + [("p", m) for m in self.parameters]
        entries = [""] * numbers_of(member for _, member in found)
        for pointer, member in found:
            texts = [f"{pointer}->{entry}" for entry in member.entries]
            entries[member.start : member.start + member.size] = texts
        return entries


def numbers_of(members: Iterable[Member]) -> int:
    """Total number of elements of these members."""
    return sum(member.size for member in members)


def interface_of(part: Subdiagram, name: str | None = None) -> Interface:
    """The interface of a subdiagram. name: prefix of its C names, by default from the
    subdiagram's name."""
    given = name or _of_functions(part.program.name)
    if _of_functions(given) != given:
        hint = f"{_of_functions(given)!r} is valid"
        raise InputError(Fault(f"{given!r} cannot be the name of C functions", hint=hint))
    return Interface(given, *map(_members, (part.inputs, part.outputs, part.parameters)))


def _of_functions(name: str) -> str:
    """A name as a valid prefix of C functions and name of their files."""
    text = identifier(name)
    return f"{text}_" if text.lower() in _OF_THE_FOLDER | {"main"} else text


def _members(slots: Sequence[Slot]) -> tuple[Member, ...]:
    """The members for these slots. Slots without elements (such as the angles of a robot without
    joints) are left out, since C has no empty arrays."""
    slots = [slot for slot in slots if math.prod(slot.shape)]
    fields = identifiers(slot.name for slot in slots)
    members, place = [], 0
    for slot, field in zip(slots, fields, strict=True):
        members.append(Member(slot.name, field, slot.shape, slot.start, place))
        place += members[-1].size
    return tuple(members)


def identifier(name: str) -> str:
    """A name as a C identifier: 'left/pd.kp' is left_pd_kp."""
    text = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")[:LONGEST_NAME].strip("_") or "signal"
    return f"{text}_" if text in _KEYWORDS else f"s{text}" if text[0].isdigit() else text


def identifiers(names: Iterable[str]) -> list[str]:
    """Unique identifiers for names. Duplicates are numbered."""
    taken: set[str] = set()
    found = []
    for name in names:
        first = text = identifier(name)
        number = 2
        while text in taken:
            text, number = f"{first}_{number}", number + 1
        taken.add(text)
        found.append(text)
    return found
