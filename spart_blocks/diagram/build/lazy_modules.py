"""Lazy import of modules that a library imports but seldom uses.

bdsim imports SciPy's integrators, which its own runs use, and its signal processing for three
blocks. With what these import they take half of bdsim's time to start.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any


class _Later(ModuleType):
    """A proxy for a module that another module has imported."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


@contextmanager
def imported_later(*names: str) -> Iterator[None]:
    """A context in which `import name` of a module that is not loaded yet returns a proxy, which
    loads the module when it is used. After the context, imports work as usual.
    """
    stands = [_Later(name) for name in names if name not in sys.modules]
    sys.modules.update({module.__name__: module for module in stands})
    try:
        yield
    finally:
        for module in stands:
            if sys.modules.get(module.__name__) is module:
                del sys.modules[module.__name__]
