"""Blocks that the user names: classes in a package, module or file; and FMUs.

Nothing in a diagram file can name a module to import: the user does, on the command line, in
Python, or by installing a package (`installed_blocks.py`). A diagram file can name an FMU, which
contains machine code: it is run only if the user names it as well.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import pkgutil
import sys
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from spart_blocks.base.errors import Fault, InputError, Place
from spart_blocks.diagram.build.library import runtime
from spart_blocks.diagram.standard import STANDARD

FMU = ".fmu"
_ALLOWED: set[Path] = set()
"""The FMUs that the user has allowed, as full paths."""


def add_blocks(*packages: str | Path) -> tuple[str, ...]:
    """Make the blocks of packages known to diagram files; returns their types.

    packages: the names of modules or packages that can be imported from here or from the
    current folder, or the paths of Python files; an FMU's path allows diagram files to use
    that FMU. Blocks are the classes in them that
    derive from bdsim's FunctionBlock, ContinuousBlock, SampledBlock, SourceBlock or
    SinkBlock; of a package with a folder `blocks`, those of the modules in that folder. A
    class LimitedPD is the type LIMITEDPD. A later call may replace the blocks of an earlier
    one. Raises InputError where one cannot be imported, has no blocks, or has one with the
    name of another.
    """
    library = runtime()._blocklibrary
    added: dict[str, type[Any]] = {}
    for package in map(_name_of, packages):
        if package.lower().endswith(FMU):
            _ALLOWED.add(Path(package))
            continue
        if not package.endswith(".py") and os.getcwd() not in sys.path:
            sys.path.insert(0, os.getcwd())  # a command's first place to look is its own folder
        found = blocks_of(package)
        standard = standard_names(found)
        taken = [*standard, *(n for n in found if added.get(n, found[n]) is not found[n])]
        if taken:
            hint = "give the class another name"
            text = f"the blocks of {package}: there is another block of the name"
            raise InputError(Fault(f"{text} {n}", place_of(found[n]), hint) for n in taken)
        added |= found
        library |= {name: entry_of(name, cls, package) for name, cls in found.items()}
    return tuple(sorted(added))


def _name_of(package: str | Path) -> str:
    """The import name of a package, or the full path of a file."""
    text = str(package)
    if not is_file_of_blocks(text):
        if os.sep in text or Path(text).is_file():
            hint = "blocks are in a module, a package, a Python file (.py) or an FMU (.fmu)"
            raise InputError(Fault(f"{text} is no file of blocks", hint=hint))
        return text
    path = Path(text).expanduser()
    if not path.is_file():
        raise InputError(f"the blocks of {text}: there is no such file")
    return str(path.resolve())


def is_file_of_blocks(name: str) -> bool:
    """Whether a name is the path of a Python file or an FMU."""
    return name.endswith(".py") or name.lower().endswith(FMU)


def is_allowed(path: Path) -> bool:
    """Whether the user has allowed this FMU, by its path."""
    return path.resolve() in _ALLOWED


def blocks_of(package: str) -> dict[str, type[Any]]:
    """The block classes of a module, package or Python file, by their types, after importing it.
    Raises InputError where it cannot be imported, has none, or two of one name.
    """
    found: dict[str, type[Any]] = {}
    for cls in (cls for module in _modules(package) for cls in _classes(module)):
        if found.setdefault(cls.__name__.upper(), cls) is not cls:
            text = f"the blocks of {package}: there are two of the name {cls.__name__.upper()}"
            raise InputError(Fault(text, place_of(cls), "give one of the classes another name"))
    if not found:
        hint = "a block is a class that derives from bdsim's FunctionBlock or the like"
        raise InputError(Fault(f"the blocks of {package}: it has no blocks", hint=hint))
    return found


def standard_names(names: Iterable[str]) -> list[str]:
    """Those of the names that blocks of bdsim or this package have."""
    library = runtime()._blocklibrary
    return [name for name in names if name in library and library[name]["package"] in STANDARD]


def _modules(package: str) -> Iterator[ModuleType]:
    module = _imported(package)
    folder = Path(next(iter(getattr(module, "__path__", [])), ""), "blocks")
    if not (hasattr(module, "__path__") and folder.is_dir()):
        yield module
        return
    for item in pkgutil.iter_modules([str(folder)]):
        if not item.name.startswith("_"):
            yield _imported(f"{package}.blocks.{item.name}")


def _imported(package: str) -> ModuleType:
    """Import a module by its name or its file. Any error of the import becomes an InputError."""
    try:
        if package.endswith(".py"):
            return _from_file(Path(package))
        return importlib.import_module(package)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and error.name in package.split("."):
            hint = "name a module that Python finds from here, or a file such as ./blocks.py"
            raise InputError(
                Fault(f"the blocks of {package}: there is no such module", hint=hint)
            ) from None
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = Place(frame.filename, frame.lineno)
        if isinstance(error, SyntaxError) and error.filename:
            place = Place(error.filename, error.lineno, error.offset)
        text = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        raise InputError(
            Fault(f"the blocks of {package} cannot be imported: {text}", place)
        ) from None


def _from_file(path: Path) -> ModuleType:
    name = f"spart_blocks' user's {path}"  # of no other module
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    if str(path.parent) not in sys.path:  # for modules beside it
        sys.path.insert(0, str(path.parent))
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _classes(module: ModuleType) -> Iterator[type[Any]]:
    """The block classes that are defined in a module itself, not imported by it."""
    from bdsim.components import Block

    for name, cls in inspect.getmembers(module, inspect.isclass):
        own = issubclass(cls, Block) and cls.__module__ == module.__name__
        if own and not name.startswith("_") and not name.endswith("Block"):
            yield cls


def entry_of(name: str, cls: type[Any], package: str) -> dict[str, Any]:
    """The entry of a block in the block library of bdsim 1.4."""
    return {
        "classname": cls.__name__,
        "blockname": name,
        "class": cls,
        "module": cls.__module__,
        "package": package,
        "path": [str(Path(inspect.getfile(cls)).parent)],
        "url": None,
        "doc": inspect.getdoc(cls) or "",
        "params": {},
        "inputs": None,
        "outputs": None,
        "nin": getattr(cls, "nin", 0),
        "nout": getattr(cls, "nout", 0),
        "blockclass": getattr(cls, "_blockclass", None),
        "deprecated": False,
    }


def place_of(cls: type[Any]) -> Place:
    """Where a class is written."""
    return Place(inspect.getfile(cls), inspect.getsourcelines(cls)[1])
