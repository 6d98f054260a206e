"""MATLAB's expressions, read without running any code: numbers, names, matrices, arithmetic, and a
few functions. A text becomes a tree of nested tuples, the tree a value or a formula of FCN.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

LONGEST = 10_000
"""Largest number of characters of an expression."""
DEEPEST = 40
MOST_ENTRIES = 100_000
"""Largest number of entries of a value."""

Tree = tuple[Any, ...]
Workspace = Mapping[str, Any]
"""Values by name. A field of a structure has the name "s.field"."""

_TOKEN = re.compile(
    r"(?P<space>[ \t]+)|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eEdD][+-]?\d+)?[ij]?)"
    r"|(?P<name>[A-Za-z]\w*(?:\.[A-Za-z]\w*)*)"
    r"|(?P<op>\.\*|\./|\.\^|\.'|==|~=|!=|<=|>=|&&|\|\||[-+*/^'()\[\],;:<>&|~!\n])"
    r"|(?P<text>\"[^\"\n]*\")"
)
_LEVELS = (("||", "|"), ("&&", "&"), ("==", "~=", "!=", "<", "<=", ">", ">="), (":",),
           ("+", "-"), ("*", "/", ".*", "./"))  # fmt: skip


class UnreadableError(ValueError):
    """An expression that cannot be read, or whose value is not known; the message says why."""


class UnknownNameError(UnreadableError):
    """An expression with a name that has no value."""


def parsed(text: str) -> Tree:
    """The tree of an expression. Raises UnreadableError."""
    if len(text) > LONGEST:
        raise UnreadableError(f"it has more than {LONGEST} characters")
    parser = _Parser(text)
    tree = parser.level(0)
    if parser.peek() is not None:
        raise UnreadableError(f"unexpected {parser.peek()!r}")
    return tree


def value_of(text: str, known: Workspace) -> Any:
    """The value of an expression: a float, a complex number or an array. Raises UnreadableError."""
    try:
        with np.errstate(all="ignore"):
            found = _plain(_value(parsed(text.strip()), known))
    except UnreadableError:
        raise
    except (ArithmeticError, ValueError, TypeError, IndexError, np.linalg.LinAlgError) as error:
        raise UnreadableError(str(error)) from None
    return found


def formula_of(text: str, entry: Callable[[str, tuple[Any, ...]], str]) -> str:
    """An expression as a formula of FCN. entry: writes a name with its indices."""
    return _written(parsed(text.strip()), entry)


class _Parser:
    """The tokens of an expression, and what is read next. in_matrix: whether space separates."""

    def __init__(self, text: str) -> None:
        self.tokens = list(_tokens(text))
        self.place, self.depth, self.in_matrix = 0, 0, False

    def peek(self) -> str | None:
        self._skip()
        return self.tokens[self.place][1] if self.place < len(self.tokens) else None

    def _skip(self) -> None:
        while (
            not self.in_matrix
            and self.place < len(self.tokens)
            and self.tokens[self.place][0] == "space"
        ):
            self.place += 1

    def take(self, *wanted: str) -> str | None:
        """The next token if it is one of these."""
        if self.peek() in wanted:
            self.place += 1
            return self.tokens[self.place - 1][1]
        return None

    def need(self, wanted: str) -> None:
        if self.take(wanted) is None:
            raise UnreadableError(f"expected {wanted!r}, got {self.peek() or 'the end'!r}")

    def level(self, k: int) -> Tree:
        """An expression of binary operators that bind as the k-th level or closer."""
        if k == len(_LEVELS):
            return self.unary()
        left = self.level(k + 1)
        while (sign := self._operator(_LEVELS[k])) is not None:
            left = (sign, left, self.level(k + 1))
        return left

    def _operator(self, signs: tuple[str, ...]) -> str | None:
        """The next operator; in a matrix `1 -2` are two entries, `1 - 2` and `1-2` one."""
        if not self.in_matrix:
            return self.take(*signs)
        at = self.place
        spaced = at < len(self.tokens) and self.tokens[at][0] == "space"
        at += spaced
        if at >= len(self.tokens) or self.tokens[at][1] not in signs:
            return None
        after = at + 1 < len(self.tokens) and self.tokens[at + 1][0] == "space"
        if spaced and not after and self.tokens[at][1] in "+-":
            return None
        self.place = at + 1 + after
        return self.tokens[at][1]

    def unary(self) -> Tree:
        self.depth += 1
        if self.depth > DEEPEST:
            raise UnreadableError("it is nested too deeply")
        sign = self.take("-", "+", "~", "!")
        tree = (f"u{sign}", self.unary()) if sign else self.power()
        self.depth -= 1
        return tree

    def power(self) -> Tree:
        base = self.transposed(self.atom())
        while (sign := self.take("^", ".^")) is not None:
            minus = self.take("-", "+")
            right = self.transposed(self.atom())
            base = (sign, base, (f"u{minus}", right) if minus else right)
        return base

    def transposed(self, tree: Tree) -> Tree:
        while self.take("'", ".'"):
            tree = ("'", tree)
        return tree

    def atom(self) -> Tree:
        self._skip()
        kind, text = self.tokens[self.place] if self.place < len(self.tokens) else ("end", "")
        self.place += 1
        if kind == "number":
            return ("number", text)
        if kind == "name":
            called = self.place < len(self.tokens) and self.tokens[self.place][1] == "("
            return ("call", text, *self._listed()) if called else ("name", text)
        if text == "(":
            was, self.in_matrix = self.in_matrix, False
            tree = self.level(0)
            self.need(")")
            self.in_matrix = was
            return tree
        if text == "[":
            return self._matrix()
        raise UnreadableError(f"unexpected {text or 'end'!r}")

    def _listed(self) -> list[Tree]:
        was, self.in_matrix = self.in_matrix, False
        self.need("(")
        found: list[Tree] = []
        while self.take(")") is None:
            if found:
                self.need(",")
            found.append((":all",) if self._whole() else self.level(0))
        self.in_matrix = was
        return found

    def _whole(self) -> bool:
        """Whether a lone colon is next, and take it."""
        self._skip()
        ends = self.tokens[self.place + 1][1] if self.place + 1 < len(self.tokens) else ""
        if self.peek() == ":" and ends in (",", ")"):
            self.place += 1
            return True
        return False

    def _matrix(self) -> Tree:
        was, self.in_matrix = self.in_matrix, True
        rows: list[list[Tree]] = [[]]
        while True:
            token = self.peek()
            if token is None:
                raise UnreadableError("a matrix without ]")
            if token == "]":
                self.place += 1
                break
            if token in (";", "\n"):
                self.place += 1
                rows.append([])
            elif token == "," or self.tokens[self.place][0] == "space":
                self.place += 1
            else:
                rows[-1].append(self.level(0))
        self.in_matrix = was
        return ("matrix", *(tuple(row) for row in rows if row))


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise UnreadableError(f"{text[place]!r} is not understood")
        place = found.end()
        yield str(found.lastgroup), found[0]


# --- values -----------------------------------------------------------------------------------

_CONSTANTS = {"pi": math.pi, "inf": math.inf, "Inf": math.inf, "eps": 2.0**-52, "i": 1j, "j": 1j,
              "true": 1.0, "false": 0.0, "e": math.e}  # fmt: skip
_ELEMENTWISE: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in (
        "sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log10", "log2", "abs", "sign",
        "floor", "ceil", "round", "deg2rad", "rad2deg", "hypot", "real", "imag", "conj")},
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2,
    "mod": np.mod, "rem": np.fmod, "power": np.power, "fix": np.trunc,
    "sqrt": lambda v: np.sqrt(v if np.all(np.real(v) >= 0) else np.asarray(v, complex)),
    "log": lambda v: np.log(v if np.all(np.real(v) >= 0) else np.asarray(v, complex)),
}  # fmt: skip


def _sized(make: Callable[[tuple[int, int]], Any]) -> Callable[..., Any]:
    def made(*sizes: Any) -> Any:
        given = [int(n) for size in sizes for n in np.ravel(size)]
        shape = (given * 2)[:2] if given else [1, 1]
        if min(shape) < 0 or shape[0] * shape[1] > MOST_ENTRIES:
            raise UnreadableError(f"an array of {shape[0]} x {shape[1]}")
        return make((shape[0], shape[1]))

    return made


def _diagonal(value: Any) -> Any:
    if np.size(value) > math.isqrt(MOST_ENTRIES):
        raise UnreadableError("a diagonal that is too long")
    vector = min(np.atleast_2d(value).shape) == 1
    return np.diag(np.ravel(value)) if vector else np.diag(value)[:, None]


def _spaced(first: Any, last: Any, count: Any = 100) -> Any:
    if not 0 <= count <= MOST_ENTRIES:
        raise UnreadableError(f"a range of {count} numbers")
    return np.linspace(first, last, int(count))[None, :]


def _extreme(two: Callable[..., Any], one: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *values: two(*values) if len(values) == 2 else one(*values)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **_ELEMENTWISE,
    "zeros": _sized(np.zeros), "ones": _sized(np.ones), "eye": _sized(lambda n: np.eye(*n)),
    "diag": _diagonal, "inv": lambda v: np.linalg.inv(np.atleast_2d(v)),
    "linspace": _spaced, "sum": np.sum, "prod": np.prod, "norm": np.linalg.norm,
    "min": _extreme(np.minimum, np.min), "max": _extreme(np.maximum, np.max),
    "length": lambda v: float(max(np.atleast_2d(v).shape)), "numel": lambda v: float(np.size(v)),
    "double": lambda v: v, "single": lambda v: v, "transpose": lambda v: np.atleast_2d(v).T,
}  # fmt: skip
_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": np.add, "-": np.subtract, ".*": np.multiply, "./": np.divide,
    "==": np.equal, "~=": np.not_equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal,
    ">": np.greater, ">=": np.greater_equal, "&": np.logical_and, "&&": np.logical_and,
    "|": np.logical_or, "||": np.logical_or,
}  # fmt: skip


def _value(tree: Tree, known: Workspace) -> Any:
    """The value of a tree: a number, or an array with two axes."""
    kind = tree[0]
    if kind == "number":
        text = tree[1].replace("d", "e").replace("D", "e")
        return complex(0, float(text[:-1])) if text[-1] in "ij" else float(text)
    if kind == "name":
        return _named(tree[1], known)
    if kind == "call":
        return _called(tree[1], tree[2:], known)
    if kind == "matrix":
        return _joined([[_value(entry, known) for entry in row] for row in tree[1:]])
    if kind == ":":
        return _range(tree, known)
    if kind == "'":
        return np.conj(np.atleast_2d(_value(tree[1], known))).T
    if kind in ("u-", "u+", "u~", "u!"):
        inner = _value(tree[1], known)
        return {"u-": lambda: -inner, "u+": lambda: inner}.get(
            kind, lambda: np.logical_not(inner)
        )()
    return _combined(kind, _value(tree[1], known), _value(tree[2], known))


def _named(name: str, known: Workspace) -> Any:
    if name in known:
        found = known[name]
        return np.atleast_2d(found) if np.ndim(found) else found
    if name in _CONSTANTS:
        return _CONSTANTS[name]
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]()
    raise UnknownNameError(f"{name} has no value")


def _called(name: str, given: tuple[Tree, ...], known: Workspace) -> Any:
    if name in known:
        return _entry(np.atleast_2d(known[name]), given, known)
    if name not in _FUNCTIONS:
        raise UnknownNameError(f"{name} is not known here")
    return _FUNCTIONS[name](*(_value(one, known) for one in given))


def _entry(array: Any, given: tuple[Tree, ...], known: Workspace) -> Any:
    if len(given) not in (1, 2):
        raise UnreadableError("an entry has one index or two")
    chosen = [
        slice(None)
        if one == (":all",)
        else np.ravel(np.asarray(_value(one, known), float)).astype(int) - 1
        for one in given
    ]
    if any(not isinstance(c, slice) and np.size(c) and np.min(c) < 0 for c in chosen):
        raise UnreadableError("indices begin at 1")
    if len(chosen) == 2:
        found = array[chosen[0], :][:, chosen[1]]
    else:
        flat = np.ravel(array, "F")[chosen[0]]
        found = flat[:, None] if given[0] == (":all",) or array.shape[1] == 1 else flat[None, :]
    return found[0, 0] if found.size == 1 else found


def _combined(sign: str, a: Any, b: Any) -> Any:
    both = np.ndim(a) == 2 and np.ndim(b) == 2
    if sign == "*":
        if both and np.shape(a)[0] * np.shape(b)[1] > MOST_ENTRIES:
            raise UnreadableError("a product that is too large")
        return a @ b if both else np.multiply(a, b)
    if sign == "/":
        return a @ np.linalg.inv(b) if both and np.size(b) > 1 else np.divide(a, b)
    if sign == "^" and np.ndim(a) == 2 and np.size(a) > 1:
        if b != int(b) or abs(b) > MOST_ENTRIES:
            raise UnreadableError("a power of a matrix")
        return np.linalg.matrix_power(a, int(b))
    if sign in ("^", ".^"):
        return np.power(np.asarray(a, complex if np.any(np.real(a) < 0) else None), b)
    if both and np.prod(np.broadcast_shapes(np.shape(a), np.shape(b))) > MOST_ENTRIES:
        raise UnreadableError("a sum that is too large")
    return _BINARY[sign](a, b)


def _range(tree: Tree, known: Workspace) -> Any:
    ends: list[Any] = []
    while tree[0] == ":" and len(ends) < 2:
        ends.append(_value(tree[2], known))
        tree = tree[1]
    last, *step = [float(np.real(end)) for end in ends]
    first, by = float(np.real(_value(tree, known))), step[0] if step else 1.0
    count = math.floor((last - first) / by + 1e-9) + 1 if by else 0
    if count > MOST_ENTRIES:
        raise UnreadableError(f"a range of {count} numbers")
    return first + by * np.arange(max(count, 0))[None, :]


def _joined(rows: list[list[Any]]) -> Any:
    if not rows:
        return np.zeros((0, 0))
    made = [np.hstack([np.atleast_2d(entry) for entry in row]) for row in rows]
    found = np.vstack([row for row in made if row.size] or made)
    if found.size > MOST_ENTRIES:
        raise UnreadableError("a matrix that is too large")
    return found


def _plain(value: Any) -> Any:
    """A scalar, a vector (of a row or a column), or a matrix."""
    array = np.asarray(value)
    if array.dtype.kind == "c" and not np.any(array.imag):
        array = array.real
    array = array.astype(complex if array.dtype.kind == "c" else float)
    if array.size == 1:
        return array.ravel()[0].item()
    return array.ravel() if array.ndim == 2 and min(array.shape) <= 1 else array


# --- formulas ---------------------------------------------------------------------------------

_SAME = {"sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "log",
         "log10", "sqrt", "hypot", "abs", "floor", "ceil", "min", "max"}  # fmt: skip
_RENAMED = {"ln": "log", "sgn": "sign", "fabs": "abs"}
_SIGNS = {"~=": "!=", "&&": "and", "&": "and", "||": "or", "|": "or", "^": "**", ".^": "**",
          ".*": "*", "./": "/"}  # fmt: skip


def _written(tree: Tree, entry: Callable[[str, tuple[Any, ...]], str]) -> str:
    """A tree as a formula; every operation is in brackets."""
    kind = tree[0]
    if kind == "number" and tree[1][-1] not in "ij":
        return str(tree[1])
    if kind == "name":
        return entry(tree[1], ())
    if kind == "call":
        if tree[1] == "pow" and len(tree) == 4:
            return f"({_written(tree[2], entry)} ** {_written(tree[3], entry)})"
        name = _RENAMED.get(tree[1], tree[1])
        if name in _SAME or tree[1] in _RENAMED:
            return f"{name}({', '.join(_written(one, entry) for one in tree[2:])})"
        return entry(tree[1], tree[2:])
    if kind in ("u-", "u+"):
        return f"({kind[1]}{_written(tree[1], entry)})"
    if kind in ("u~", "u!"):
        return f"(not {_written(tree[1], entry)})"
    if len(tree) == 3 and kind != ":":
        return f"({_written(tree[1], entry)} {_SIGNS.get(kind, kind)} {_written(tree[2], entry)})"
    raise UnreadableError("it is no formula of FCN")
