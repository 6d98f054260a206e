"""Arrays of Symbols, to which NumPy's functions can be applied.

`SymbolArray` is an object array of Symbols and numbers. What NumPy's object arrays lack is in
array_functions.py, which fills the tables UFUNCS and FUNCTIONS here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from spart_blocks.program.tracing.symbol_scalar import Condition, Symbol, TraceError, if_else

UFUNCS: dict[Any, Any] = {}
"""Replacements of NumPy's elementwise functions."""

FUNCTIONS: dict[Any, Callable[..., Any]] = {}
"""Replacements of other NumPy functions."""


MOST_PRODUCTS = 1_000_000
"""Largest number of products of scalars in a traced product of arrays."""


class SymbolArray(np.ndarray[Any, Any]):
    """An object array of Symbols and numbers that knows NumPy's functions of numbers."""

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any
    ) -> Any:
        arrays = [plain(x) for x in inputs]
        if method == "at":
            raise TraceError(f"its code calls np.{ufunc.__name__}.at, which is not traced")
        for name in ("dtype", "casting", "subok", "order"):
            options.pop(name, None)
        if method in ("reduce", "accumulate") and ufunc in (np.add, np.multiply):
            arrays[0] = _counted(arrays[0])
        if ufunc is np.matmul:
            _refuse_large_product(*arrays)
        operation = UFUNCS.get(ufunc, ufunc)
        if "where" in options and out is not None and out[0].dtype.hasobject:
            getattr(operation, method)(*arrays, out=plain(out), **options)
            return unbox(out[0] if len(out) == 1 else out)
        result = getattr(operation, method)(*arrays, **options)
        if out is None:
            return unbox(result)
        results = result if isinstance(result, tuple) else (result,)
        for target, value in zip(out, results, strict=True):
            if target is not None:
                target[...] = value
        return unbox(out[0] if len(out) == 1 else out)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        special = FUNCTIONS.get(function)
        if special is not None:
            if not has_symbols((args, kwargs)):
                return function(*_floats(args), **_floats(kwargs))
            return unbox(special(*args, **kwargs))
        args, kwargs = _boxed(args), _boxed(kwargs)
        return unbox(np.ndarray.__array_function__(self, function, (SymbolArray,), args, kwargs))

    def __getitem__(self, key: Any) -> Any:
        _refuse_mask(key)
        return super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        mask = isinstance(key, np.ndarray) and key.dtype.hasobject
        if mask and key.shape == self.shape and np.ndim(value) == 0:
            super().__setitem__(..., elementwise_if_else(plain(key), plain(value), plain(self)))
            return
        _refuse_mask(key)
        super().__setitem__(key, value)

    def astype(self, dtype: Any, *args: Any, **options: Any) -> Any:
        """A copy for float and object types, since Symbols replace floats. TraceError for other
        types if there are symbols.
        """
        kind = np.dtype(dtype).kind
        if kind == "O" or kind == "f":
            return self.copy()
        if not has_symbols(self):
            return np.asarray(self.tolist()).astype(dtype)
        raise TraceError(f"its code turns a signal into an array of {np.dtype(dtype)}")

    def clip(self, min: Any = None, max: Any = None, out: Any = None, **_: Any) -> Any:
        return np.clip(self, min, max, out=out)

    def dot(self, other: Any, out: Any = None) -> Any:
        return np.dot(self, other)

    def round(self, decimals: Any = 0, out: Any = None) -> Any:
        return np.round(self, decimals)

    def __array_finalize__(self, parent: Any) -> None:
        return None


def _refuse_mask(key: Any) -> None:
    for part in key if isinstance(key, tuple) else (key,):
        if isinstance(part, Condition) or (
            isinstance(part, np.ndarray) and part.dtype.hasobject and has_symbols(part)
        ):
            raise TraceError("its code selects elements by a condition on a signal; use np.where")


def _counted(array: Any) -> Any:
    """Truth values as the numbers 0 and 1, so that they can be summed."""
    if not (isinstance(array, np.ndarray) and array.dtype.hasobject):
        return array
    ufunc = np.frompyfunc(lambda x: Symbol(x.sx) if isinstance(x, Condition) else x, 1, 1)
    return np.asarray(ufunc(array), object)


_if_else = np.frompyfunc(if_else, 3, 1)


def elementwise_if_else(condition: Any, yes: Any, no: Any) -> Any:
    """np.where for arrays of Symbols; an alternative may be NaN."""
    with np.errstate(invalid="ignore"):
        return _if_else(condition, yes, no)


def has_symbols(value: Any) -> bool:
    """Whether an array, or nested lists of arrays, contain a Symbol."""
    if isinstance(value, Symbol):
        return True
    if isinstance(value, np.ndarray):
        return value.dtype.hasobject and any(isinstance(x, Symbol) for x in value.flat)
    if isinstance(value, (list, tuple)):
        return any(has_symbols(x) for x in value)
    return isinstance(value, dict) and any(has_symbols(x) for x in value.values())


def _mapped(change: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        items = [_mapped(change, x) for x in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {key: _mapped(change, x) for key, x in value.items()}
    return change(value)


def _floats(value: Any) -> Any:
    """The arguments with every SymbolArray, which must contain numbers only, as a numeric array."""
    return _mapped(
        lambda x: np.array(x.tolist()).reshape(x.shape) if isinstance(x, SymbolArray) else x, value
    )


def _boxed(value: Any) -> Any:
    """The arguments with every Symbol as an array with shape ()."""
    return _mapped(lambda x: box(x) if isinstance(x, Symbol) else x, value)


def plain(value: Any) -> Any:
    """A signal, or nested lists of signals, with plain object arrays instead of SymbolArrays."""
    if isinstance(value, Symbol):
        return box(value).view(np.ndarray)
    return _mapped(lambda x: x.view(np.ndarray) if isinstance(x, SymbolArray) else x, value)


def _refuse_large_product(a: Any, b: Any) -> None:
    """Raise TraceError if a product of arrays needs too many scalar products."""
    if np.ndim(a) and np.ndim(b):
        products = np.size(a) * np.size(b) // max(np.shape(b)[max(np.ndim(b) - 2, 0)], 1)
        if products > MOST_PRODUCTS:
            raise TraceError(
                f"its code multiplies arrays of shapes {np.shape(a)} and {np.shape(b)}, "
                "which are too large to be traced"
            )


def box(value: Any) -> SymbolArray:
    """A Symbol as a SymbolArray with shape (), an array as a SymbolArray."""
    if isinstance(value, Symbol):
        out = np.empty((), dtype=object)
        out[()] = value
        return out.view(SymbolArray)
    return np.asarray(value, dtype=object).view(SymbolArray)


def unbox(value: Any) -> Any:
    """Results in the form that blocks expect: object arrays as SymbolArrays, scalars without an
    array.
    """
    if isinstance(value, np.ndarray) and value.dtype.hasobject:
        if value.ndim == 0:
            return value[()]
        return value if isinstance(value, SymbolArray) else value.view(SymbolArray)
    if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
        return type(value)([unbox(x) for x in value])
    return value


def refused(what: str) -> Callable[..., NoReturn]:
    """A function that raises TraceError, as the replacement of one that cannot be traced."""

    def refuse(*args: Any, **options: Any) -> NoReturn:
        raise TraceError(f"its code {what}, which is not traced")

    return refuse


# --- a Symbol as an array of no dimension -----------------------------------------------------


def _ravel(self: Symbol, order: str = "C") -> Any:
    return box(self).reshape(1)


def _reshape(self: Symbol, *shape: Any, **options: Any) -> Any:
    return unbox(box(self).reshape(*shape, **options))


def _astype(self: Symbol, dtype: Any, **_: Any) -> Any:
    return box(self).astype(dtype)[()]


def _array_ufunc(self: Symbol, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    boxed = [box(x) if isinstance(x, Symbol) else x for x in inputs]
    return unbox(getattr(ufunc, method)(*boxed, **options))


def _array_function(
    self: Symbol, function: Any, types: Any, args: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    return box(self).__array_function__(function, types, args, options)


for _name, _function in {
    "ravel": _ravel,
    "flatten": _ravel,
    "reshape": _reshape,
    "astype": _astype,
    "__array_ufunc__": _array_ufunc,
    "__array_function__": _array_function,
}.items():
    setattr(Symbol, _name, _function)
