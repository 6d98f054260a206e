"""Compiles NumPy functions: they are traced once with symbols, then called as machine code."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, NoReturn

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import InputError
from spart_blocks.program.c.machine_code import MachineCode, machine_code
from spart_blocks.program.tracing.constructors import constructors_of_symbols
from spart_blocks.program.tracing.faults import located
from spart_blocks.program.tracing.symbol import (
    Symbol,
    SymbolArray,
    TraceError,
    box,
    column_of,
    is_number,
    scalars,
    symbols,
    unbox,
)
from spart_blocks.program.tracing.symbol_array import has_symbols

Floats = NDArray[np.float64]
Shape = tuple[int, ...]

_FLOAT = np.dtype(np.float64)


def compiled(function: Callable[..., Any], *shapes: int | Shape) -> CompiledFunction:
    """Compile a NumPy function of float arrays of the given shapes; n is short for (n,).

    The function is run here, on symbols, and what it does to them becomes C code, or where
    there is no C compiler a program of CasADi's virtual machine. It returns an array, a
    number, or a tuple of them. What else it reads, such as a robot, is kept as it is now.
    It may not branch on the values of its arguments, nor depend on anything random.

        forward = sb.compiled(lambda q, u, tau: ..., 7, 7, 7)
        umdot = forward(q, u, tau)

    Raises TraceError with the line where an expression cannot record what the function
    does, and InputError for shapes that are none.
    """
    label = _label(function)
    checked = [_shape(shape, label) for shape in shapes]
    names = _argument_names(function, len(shapes), label)
    variables = [symbols(f"i{k}", shape) for k, shape in enumerate(checked)]
    value = _traced(function, [array for _, array in variables], label)
    values, kind = _results(value, label)
    columns = ca.cse([ca.densify(column_of([value])) for value in values])
    program = ca.Function("sb_function", [column for column, _ in variables], columns)
    arguments = tuple(zip(names, checked, strict=True))
    results = tuple(np.shape(value) for value in values)
    return CompiledFunction(label, program, arguments, results, kind)


class CompiledFunction:
    """A function of float arrays in compiled code. Call it like the original function.

    Each call checks its arguments' shapes, copies them, and gives fresh results, and is
    safe from several threads. `bound` leaves all that out. Pickles, to be compiled or
    fetched from the cache where it is loaded.

    address: of `int f(const double **arguments, double **results, long long *, double *,
    int)` for callers in C, who pass every array, and 0 for the last three; None where there
    is no compiler, or np.interp with a table too large for an expression in the function.
    """

    def __init__(
        self,
        name: str,
        program: Any,
        arguments: tuple[tuple[str, Shape], ...],
        results: tuple[Shape, ...],
        kind: type[tuple[Any, ...]] | None,
    ) -> None:
        self.name, self.program, self.arguments, self.results = name, program, arguments, results
        self._kind = kind
        # A tuple, or one with names, or the one result itself.
        self._packed: Callable[[Sequence[Any]], Any]
        self._packed = itemgetter(0) if kind is None else getattr(kind, "_make", kind)
        self._code: MachineCode | None = machine_code(program)
        self.address = self._code.address if self._code else None
        self._lock = threading.Lock()
        self._inputs = [np.zeros(shape) for _, shape in arguments]
        self._outputs = [np.zeros(shape) for shape in results]
        self._run = self._bind(self._inputs, self._outputs, None)

    def __call__(self, *values: Any) -> Any:
        given, symbolic = self._arrays(values)
        if symbolic:
            return self._packed(self._on_symbols(given))
        with self._lock:
            for own, array in zip(self._inputs, given, strict=True):
                own[...] = array
            self._run()
            # An array without dimension gives a number, as NumPy's functions do.
            return self._packed([x.copy() if x.ndim else x[()] for x in self._outputs])

    def bound(self, *arrays: Floats, out: Any = None) -> BoundCall:
        """A call without arguments, from these arrays to `out`, one array or a tuple of
        them, or to new arrays.

        It reads and writes the arrays themselves: fill them in place between calls.

            call = forward.bound(q, u, tau)
            q[:] = ...
            umdot = call()  # the same array each time: call.result

        All are C-contiguous arrays of float64 of the exact shapes, and none that is
        written shares memory with another. Raises InputError where that is not so.
        """
        self._counted(arrays)
        for (name, shape), array in zip(self.arguments, arrays, strict=True):
            self._check(f"argument {name}", array, shape)
        if out is None:
            outputs: Sequence[Floats] = [np.zeros(shape) for shape in self.results]
        else:
            several = self._kind is not None
            if several != isinstance(out, tuple) or (several and len(out) != len(self.results)):
                wanted = f"a tuple of {len(self.results)} arrays" if several else "one array"
                self._refuse(f"out must be {wanted}, as the results are")
            outputs = out if several else (out,)
            for k, (shape, array) in enumerate(zip(self.results, outputs, strict=True)):
                self._check(f"out[{k}]" if several else "out", array, shape)
            self._check_apart(arrays, outputs)
        result = self._packed(outputs)
        return BoundCall(self._bind(arrays, outputs, result), arrays, result)

    def __repr__(self) -> str:
        given = ", ".join(f"{name} {shape}" for name, shape in self.arguments)
        made = ", ".join(map(str, self.results))
        how = "machine code" if self._code else "CasADi's virtual machine"
        return f"<compiled {self.name}: {given} -> {made}; {how}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self.program, self.arguments, self.results, self._kind)

    # --- arguments and results --------------------------------------------------------------

    def _refuse(self, text: str) -> NoReturn:
        raise InputError(f"{self.name}: {text}")

    def _counted(self, values: Sequence[Any]) -> None:
        if len(values) != len(self.arguments):
            names = ", ".join(name for name, _ in self.arguments)
            count = f"it takes {len(self.arguments)} arrays ({names})"
            self._refuse(f"{len(values)} arguments given, {count}")

    def _arrays(self, values: tuple[Any, ...]) -> tuple[list[NDArray[Any]], bool]:
        """The arguments as arrays, and whether they contain symbols."""
        self._counted(values)
        arrays, symbolic = [], False
        for (name, shape), value in zip(self.arguments, values, strict=True):
            array = value if type(value) is np.ndarray else np.asarray(value)
            if array.shape != shape:
                self._refuse(f"argument {name} has shape {array.shape}, it must be {shape}")
            if array.dtype is not _FLOAT and array.dtype.kind not in "fiub":
                array = self._numbers(name, array)
                symbolic = symbolic or array.dtype.hasobject
            arrays.append(array)
        return arrays, symbolic

    def _numbers(self, name: str, array: NDArray[Any]) -> NDArray[Any]:
        """The array if it contains only numbers or symbols of a trace; otherwise InputError."""
        entries = array.ravel().tolist() if array.dtype.hasobject else [None]
        if not all(is_number(x) or isinstance(x, Symbol) for x in entries):
            self._refuse(f"argument {name} must hold numbers, not {array.dtype}")
        return array if has_symbols(array) else array.astype(float)

    def _check(self, what: str, array: Any, shape: Shape) -> None:
        if not isinstance(array, np.ndarray) or array.dtype != _FLOAT:
            kind = getattr(array, "dtype", type(array).__name__)
            self._refuse(f"{what} must be an array of float64 to be bound, not {kind}")
        if array.shape != shape:
            self._refuse(f"{what} has shape {array.shape}, it must be {shape}")
        if not (array.flags.c_contiguous and array.flags.aligned):
            self._refuse(f"{what} must be contiguous in memory to be bound; np.ascontiguousarray")

    def _check_apart(self, inputs: Sequence[Floats], outputs: Sequence[Floats]) -> None:
        for k, output in enumerate(outputs):
            if not output.flags.writeable:
                self._refuse("out is read-only")
            others = [*inputs, *outputs[:k]]
            if any(np.may_share_memory(output, other) for other in others):
                self._refuse("out shares memory with another array of the call")

    # --- running ----------------------------------------------------------------------------

    def _on_symbols(self, values: Sequence[NDArray[Any]]) -> list[Any]:
        """The result of a call with symbols, inside a larger trace."""
        columns = self.program.call([column_of([value]) for value in values])
        return [
            unbox(scalars(column).reshape(shape))
            for column, shape in zip(columns, self.results, strict=True)
        ]

    def _bind(
        self, inputs: Sequence[Floats], outputs: Sequence[Floats], result: Any
    ) -> Callable[[], Any]:
        if self._code:
            return self._code.bind(inputs, outputs, result)
        buffer, run = self.program.buffer()
        for set_place, arrays in ((buffer.set_arg, inputs), (buffer.set_res, outputs)):
            for k, array in enumerate(arrays):
                if array.size:
                    flat: Any = array.reshape(-1)
                    set_place(k, memoryview(flat))
        kept = (buffer, tuple(inputs), tuple(outputs))

        def call(_kept: Any = kept) -> Any:  # the buffer has only the arrays' addresses
            run()
            return result

        return call


class BoundCall(functools.partial):  # type: ignore[type-arg]
    """A call on fixed arrays: `call()` computes `call.result`, and returns it, from
    `call.arguments`. Not safe from several threads at once. Does not pickle."""

    arguments: tuple[Floats, ...]
    result: Any

    def __new__(
        cls, run: Callable[[], Any], arguments: tuple[Floats, ...], result: Any
    ) -> BoundCall:
        self = super().__new__(cls, run)
        self.arguments, self.result = arguments, result
        return self

    def __repr__(self) -> str:
        shapes = ", ".join(str(array.shape) for array in self.arguments)
        return f"<call bound to arrays of shapes {shapes}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a bound call is tied to arrays in memory; pickle the compiled function")


# --- tracing --------------------------------------------------------------------------------


def _label(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _shape(given: Any, label: str) -> Shape:
    shape = given if isinstance(given, tuple) else (given,)
    if not all(isinstance(n, (int, np.integer)) and n >= 0 for n in shape):
        raise InputError(
            f"{label}: {given!r} is no shape; give one for each argument, as in "
            "sb.compiled(f, (3, 3), 7)"
        )
    return tuple(int(n) for n in shape)


def _argument_names(function: Callable[..., Any], count: int, label: str) -> list[str]:
    try:
        signature = inspect.signature(function)
    except ValueError:  # some functions written in C have none
        return [str(k + 1) for k in range(count)]
    try:
        signature.bind(*range(count))
    except TypeError as error:
        raise InputError(f"{label}{signature} with {count} shapes: {error}") from None
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    named = [name for name, p in signature.parameters.items() if p.kind in kinds]
    return [*named[:count], *(str(k + 1) for k in range(len(named), count))]


def _traced(function: Callable[..., Any], arrays: Sequence[SymbolArray], label: str) -> Any:
    """The results of the function for symbols. If tracing fails, it is repeated with the
    constructors of float arrays replaced.
    """
    try:
        return function(*(unbox(array.copy()) for array in arrays))
    except Exception as error:
        try:
            with constructors_of_symbols():
                return function(*(unbox(array.copy()) for array in arrays))
        except Exception:
            raise located(label, error) from error


def _results(value: Any, label: str) -> tuple[list[Any], type[tuple[Any, ...]] | None]:
    """The results as arrays, and their tuple class if they were in a tuple."""
    kind = type(value) if isinstance(value, tuple) else None
    values = list(value) if isinstance(value, tuple) else [value]
    for result in values:
        known = isinstance(result, (np.ndarray, Symbol)) or is_number(result)
        entries = box(result).ravel().tolist() if known else [result]
        odd = [x for x in entries if not (is_number(x) or isinstance(x, Symbol))]
        if odd:
            got = f"it returns a {type(odd[0]).__name__}"
            raise TraceError(f"{label}: {got}, not an array, a number, or a tuple of them")
    return [box(result) for result in values], kind
