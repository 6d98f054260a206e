"""Formulas as text, such as "k*u[0] + sin(t)": parsed once into closures, never evaluated with
`eval`. Python's own parser makes the tree. A node that is not in the tables here is rejected with
its column. The closures call NumPy's functions, so that they run on numbers and on symbols.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import reduce
from types import MappingProxyType
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, brief, did_you_mean
from spart_blocks.formulas.crossings import (
    COMPARISONS,
    bare,
    comparison_crossings,
    flat,
    level_crossings,
    zero_or_one,
)

LONGEST = 10_000
"""Largest number of characters of a formula."""
DEEPEST = 100
"""Largest nesting depth of a formula; a sum of n terms has n levels."""

Known = Any
"""What a formula is evaluated on: of blocks a mapping of inputs, parameters and t by name."""
Value = Callable[[Known], Any]
Queries = Mapping[str, Collection[str]]
"""Functions of a name instead of a value, with the names that each takes. The value of active(done)
is that of the name "active(done)", 1 or 0."""
NO_QUERIES: Queries = MappingProxyType({})

CONSTANTS = {"pi": np.float64(np.pi), "e": np.float64(np.e)}
MEANINGS = {"pi": "half a turn", "e": "Euler's number", "t": "the time"}
"""Meanings of the names that every formula has."""


@dataclass(frozen=True)
class Function:
    """A function that a formula may call. crossings: its zero-crossing functions, of the same
    arguments. most: largest number of arguments, None for any number.
    """

    call: Callable[..., Any]
    least: int = 1
    most: int | None = 1
    crossings: Callable[..., list[Any]] | None = None


def _folded(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda *values: reduce(function, values)


def _lead_changes(lead: Callable[[Any, Any], Any]) -> Callable[..., list[Any]]:
    """Zero-crossing functions for a change of the smallest or the largest of some values."""

    def changes(first: Any, *others: Any) -> list[Any]:
        found = []
        for value in others:
            found += flat(first - value)
            first = lead(first, value)
        return found

    return changes


def _angle_jumps(y: Any, x: Any) -> list[Any]:
    """atan2 jumps by a turn where y passes zero and x is negative."""
    return flat(np.where(np.less(x, 0.0), -y, -1.0))


FUNCTIONS: dict[str, Function] = {
    **{name: Function(getattr(np, name)) for name in (
        "sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "log10", "sqrt")},
    **{short: Function(getattr(np, name)) for short, name in (
        ("asin", "arcsin"), ("acos", "arccos"), ("atan", "arctan"))},
    "atan2": Function(np.arctan2, 2, 2, _angle_jumps),
    "hypot": Function(np.hypot, 2, 2),
    "norm": Function(np.linalg.norm),
    "any": Function(lambda v: zero_or_one(np.any(np.not_equal(v, 0.0)))),
    "all": Function(lambda v: zero_or_one(np.all(np.not_equal(v, 0.0)))),
    "abs": Function(np.abs, crossings=lambda v: flat(v)),
    "sign": Function(np.sign, crossings=lambda v: flat(v, -v)),
    "floor": Function(np.floor, crossings=level_crossings),
    "ceil": Function(np.ceil, crossings=level_crossings),
    "round": Function(np.rint, crossings=lambda v: level_crossings(v + 0.5)),
    "min": Function(_folded(np.minimum), 2, None, _lead_changes(np.minimum)),
    "max": Function(_folded(np.maximum), 2, None, _lead_changes(np.maximum)),
    "clip": Function(np.clip, 3, 3, lambda v, low, high: flat(v - low, v - high)),
}  # fmt: skip
CHOICE = "where"
"""where(condition, yes, no) is `yes if condition else no`."""

_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: a**b,
    ast.Mod: lambda a, b: a % b,
}
_WRITTEN_SO: dict[type, str] = {
    ast.BitXor: "a power is written u**2",
    ast.FloorDiv: "write floor(a/b)",
    ast.BitAnd: "write a and b",
    ast.BitOr: "write a or b",
}
_COMPARISONS: dict[type, str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip


@dataclass(frozen=True)
class Formula:
    """A parsed formula. value: its value. watched: its zero-crossing functions, each a list. Both
    are functions of the values by name. reads: the names in it. constants: those of CONSTANTS in
    it. scaled_by_e: whether e stands for Euler's number other than as the base of a power.
    """

    text: str
    value: Value
    watched: tuple[Callable[[Known], list[Any]], ...]
    reads: frozenset[str]
    constants: frozenset[str] = frozenset()
    scaled_by_e: bool = False

    def crossings(self, known: Known) -> list[Any]:
        """The values of the zero-crossing functions, for values by name."""
        return [entry for watched in self.watched for entry in watched(known)]


def read_formula(text: Any, names: Collection[str], queries: Queries = NO_QUERIES) -> Formula:
    """Parse a formula of these names, `t`, `pi` and `e`. Raises InputError with the column for a
    syntax error, an unknown name, and a formula that is too long or nested too deeply.
    """
    text, tree = parsed(text)
    reader = Reader(text, {*names, "t"}, queries=queries)
    value = reader.value(tree)
    return Formula(
        text,
        value,
        tuple(reader.watched),
        frozenset(reader.reads),
        frozenset(reader.constants),
        "e" in reader.constants and _scaled_by("e", tree),
    )


def _scaled_by(name: str, tree: ast.expr) -> bool:
    """Whether a name stands in a formula other than as the base of a power."""
    nodes = list(ast.walk(tree))
    powers = [n for n in nodes if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Pow)]
    bases = {id(power.left) for power in powers}
    return any(isinstance(n, ast.Name) and n.id == name and id(n) not in bases for n in nodes)


def query(function: str, name: str) -> str:
    """The name under which the values have the answer to a query."""
    return f"{function}({name})"


def parsed(text: Any, *, several: str = "blocks", params: bool = True) -> tuple[str, ast.expr]:
    """A formula's text with single spaces, and its tree. several: what a formula that is too deep
    is to be split into; params: whether parameters of the file must be handed to it. Raises
    InputError with the column."""
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"a formula is a text such as 'k*u + 1', not {brief(text)}")
    if len(text) > LONGEST:
        raise InputError(f"the formula has {len(text):,} characters, the most is {LONGEST:,}")
    text = " ".join(text.split())
    tree = _tree(text, params)
    _refuse_depth(tree, several)
    return text, tree


def _tree(text: str, params: bool) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError as error:
        hint = None
        if referred := _REFERENCE.search(text):
            hint = "names stand in a formula without $"
            hint += f"; {_handed_on(referred[1])}" if params else f": {referred[1]}"
        raise _fault(
            text, (error.offset or 1) - 1, f"it is no formula: {error.msg}", hint
        ) from None
    except (ValueError, RecursionError, MemoryError):
        raise InputError(f"formula {brief(text)}: it is no formula, or nested too deep") from None


_REFERENCE = re.compile(r"\$\{?(\w+)")


def _handed_on(name: str) -> str:
    """How to pass a parameter of the file to a formula."""
    name = brief(name)[1:-1]
    return f"a parameter of the file comes in by params: {{{name}: ${name}}}"


def _refuse_depth(tree: ast.expr, several: str) -> None:
    """InputError for a tree with too many levels, before any recursive function walks it."""
    pending: list[tuple[ast.AST, int]] = [(tree, 1)]
    while pending:
        node, depth = pending.pop()
        if depth > DEEPEST:
            hint = f"write it as several {several}"
            raise InputError(Fault(f"the formula has more than {DEEPEST} levels", hint=hint))
        # An operator does not count as a level.
        pending += [(n, depth + 1) for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]


def _fault(text: str, column: int, message: str, hint: str | None = None) -> InputError:
    shown = hint or f"{text[max(0, column - 20) : column + 20]}"
    return InputError(Fault(f"formula {brief(text)}, column {column + 1}: {message}", hint=shown))


@dataclass
class Reader:
    """Turns nodes into closures, and collects their zero-crossing functions and the names that they
    read, also those of constants. functions: those that may be called."""

    text: str
    names: Collection[str]
    functions: Mapping[str, Function] = field(default_factory=lambda: FUNCTIONS)
    queries: Queries = field(default_factory=dict)
    reads: set[str] = field(default_factory=set)
    constants: set[str] = field(default_factory=set)
    watched: list[Callable[[Known], list[Any]]] = field(default_factory=list)
    conditions: list[Value] = field(default_factory=list)
    """The conditions under which the current node is evaluated."""

    def fault(self, node: ast.AST, message: str, hint: str | None = None) -> InputError:
        # Columns count bytes of UTF-8.
        before = self.text.encode()[: getattr(node, "col_offset", 0)]
        return _fault(self.text, len(before.decode(errors="ignore")), message, hint)

    def watch(self, crossings: Callable[[Known], list[Any]]) -> None:
        """Add zero-crossing functions; constant where their branch is not chosen, since they may be
        NaN there.
        """
        conditions = tuple(self.conditions)

        def masked(known: Known) -> list[Any]:
            values = crossings(known)
            if not conditions:
                return values
            holds = reduce(np.logical_and, [np.all(holds(known)) for holds in conditions])
            return [bare(np.where(holds, value, 1.0)) for value in values]

        self.watched.append(masked)

    # --- values ----------------------------------------------------------------------

    def value(self, node: ast.expr) -> Value:
        """The closure of a node's value."""
        if isinstance(node, ast.Constant):
            return self._constant(node)
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.Subscript):
            return self._entry(node)
        if isinstance(node, ast.BinOp):
            return self._operation(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            inner = self.value(node.operand)
            return (lambda known: -inner(known)) if isinstance(node.op, ast.USub) else inner
        if isinstance(node, (ast.Compare, ast.BoolOp, ast.UnaryOp)):
            truth = self.truth(node)
            return lambda known: zero_or_one(truth(known))
        if isinstance(node, ast.IfExp):
            return self._choice(node.test, node.body, node.orelse)
        if isinstance(node, ast.Call):
            return self._call(node)
        raise self.fault(node, f"a formula has no {_kind(node)}")

    def _constant(self, node: ast.Constant) -> Value:
        value = node.value
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.fault(node, f"{brief(value)} is no real number")
        try:
            number = np.float64(value)
        except OverflowError:
            number = np.float64(np.inf)
        if not np.isfinite(number):
            raise self.fault(node, "the number is too large")
        return lambda known: number

    def _name(self, node: ast.Name) -> Value:
        name = node.id
        if name in self.names:
            self.reads.add(name)
            return lambda known: known[name]
        if name in CONSTANTS:
            self.constants.add(name)
            return lambda known: CONSTANTS[name]
        if name in self.functions or name == CHOICE:
            raise self.fault(node, f"{name} is a function", f"write {name}(...)")
        near = did_you_mean(name, {*self.names, *CONSTANTS})
        hint = _handed_on(name)
        raise self.fault(node, f"there is no {brief(name)}", f"{near}\n  {hint}" if near else hint)

    def _entry(self, node: ast.Subscript) -> Value:
        """An entry of an input or a parameter, a[0] or a[0, 1]."""
        if not isinstance(node.value, ast.Name):
            raise self.fault(node, "only an input or a parameter has entries", "write u[0]")
        array = self._name(node.value)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        index = tuple(self._index(part) for part in parts)
        name, place = node.value.id, self.fault(node, "").faults[0].message

        def entry(known: Known) -> Any:
            values = array(known)
            try:
                return values[index]
            except (IndexError, TypeError):
                shape = np.shape(values)
                raise ValueError(f"{place}{name} is {shape}, it has no such entry") from None

        return entry

    def _index(self, node: ast.expr) -> int:
        sign = 1
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            sign, node = -1, node.operand
        if not isinstance(node, ast.Constant) or type(node.value) is not int:
            raise self.fault(node, "an index is a whole number", "write u[0]")
        return sign * node.value

    def _operation(self, node: ast.BinOp) -> Value:
        operation = _OPERATORS.get(type(node.op))
        if operation is None:
            hint = _WRITTEN_SO.get(type(node.op))
            raise self.fault(node, "a formula has + - * / ** and %, no other operator", hint)
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(node.op, ast.Mod):
            self.watch(lambda known: level_crossings(left(known) / right(known)))
        return lambda known: operation(left(known), right(known))

    def _choice(self, test: ast.expr, yes: ast.expr, no: ast.expr) -> Value:
        holds = self.truth(test)
        self.conditions.append(holds)
        first = self.value(yes)
        self.conditions[-1] = lambda known: np.logical_not(holds(known))
        second = self.value(no)
        self.conditions.pop()
        return lambda known: bare(np.where(holds(known), first(known), second(known)))

    def _call(self, node: ast.Call) -> Value:
        name = node.func.id if isinstance(node.func, ast.Name) else None
        if name == CHOICE and len(node.args) == 3 and not node.keywords:
            return self._choice(*node.args)
        if self.asks(node):
            return self._answer(node)
        function = self.functions.get(name or "")
        if name is None:
            raise self.fault(node, "only a function's name is called", "write sin(u)")
        if function is None and name != CHOICE:
            hint = did_you_mean(name, {*self.functions, *self.queries, CHOICE})
            raise self.fault(node, f"there is no function {brief(name)}", hint)
        many = len(node.args)
        if function is None or many < function.least or many > (function.most or many):
            wanted = 3 if function is None else function.most or f"{function.least} or more"
            noun = "argument" if wanted == 1 else "arguments"
            raise self.fault(node, f"{name} takes {wanted} {noun}, not {many}")
        if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            raise self.fault(node, f"{name} takes values only")
        values = [self.value(argument) for argument in node.args]
        if (crossings := function.crossings) is not None:
            self.watch(lambda known: crossings(*(value(known) for value in values)))
        call = function.call
        return lambda known: call(*(value(known) for value in values))

    def asks(self, node: ast.expr) -> bool:
        """Whether a node calls one of the queries."""
        called = node.func if isinstance(node, ast.Call) else None
        return isinstance(called, ast.Name) and called.id in self.queries

    def _answer(self, node: ast.Call) -> Value:
        """The closure of a query: active(done)."""
        function = ast.unparse(node.func)
        choices = self.queries[function]
        given = node.args[0] if len(node.args) == 1 and not node.keywords else None
        if not isinstance(given, ast.Name):
            hint = f"write {function}({next(iter(choices), 'name')})"
            raise self.fault(node, f"{function} takes one name", hint)
        if given.id not in choices:
            near = did_you_mean(given.id, choices)
            raise self.fault(given, f"{function} finds no {brief(given.id)}", near)
        name = query(function, given.id)
        self.reads.add(name)
        return lambda known: known[name]

    # --- truth -----------------------------------------------------------------------

    def truth(self, node: ast.expr) -> Value:
        """The closure of a condition; a nonzero number is true."""
        if isinstance(node, ast.Compare):
            return self._comparison(node)
        if isinstance(node, ast.BoolOp):
            parts = [self.truth(part) for part in node.values]
            join = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
            return lambda known: reduce(join, [part(known) for part in parts])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.truth(node.operand)
            return lambda known: np.logical_not(inner(known))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
            raise self.fault(node, "a formula has no ~", "write not")
        value = self.value(node)
        self.watch(lambda known: flat(value(known), -value(known)))
        return lambda known: np.not_equal(value(known), 0.0)

    def _comparison(self, node: ast.Compare) -> Value:
        sides = [self.value(side) for side in (node.left, *node.comparators)]
        operators = [_COMPARISONS[type(kind)] for kind in node.ops if type(kind) in _COMPARISONS]
        if len(operators) < len(node.ops):
            raise self.fault(node, "a formula compares with == != < <= > >= only")

        def pairs(known: Known) -> Any:
            values = [side(known) for side in sides]
            return zip(values, operators, values[1:], strict=False)

        self.watch(lambda known: [v for pair in pairs(known) for v in comparison_crossings(*pair)])
        return lambda known: reduce(
            np.logical_and, [COMPARISONS[operator](a, b) for a, operator, b in pairs(known)]
        )


_KINDS = {
    "Lambda": "functions of its own", "Attribute": "attributes", "List": "lists",
    "Tuple": "lists", "Dict": "dictionaries", "Set": "sets", "JoinedStr": "texts",
    "NamedExpr": "assignments", "Starred": "stars", "Slice": "slices",
    "ListComp": "loops", "GeneratorExp": "loops", "SetComp": "loops", "DictComp": "loops",
    "Await": "await", "Yield": "yield",
}  # fmt: skip


def _kind(node: ast.AST) -> str:
    return _KINDS.get(type(node).__name__, type(node).__name__)
