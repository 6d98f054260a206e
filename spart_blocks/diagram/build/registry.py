"""The block types: bdsim's, ours, and those of packages that the user has named or installed."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache, cached_property, wraps
from io import StringIO
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from spart_blocks.block_support.ports import Port
from spart_blocks.diagram.build.composed_blocks import made
from spart_blocks.diagram.build.installed_blocks import installed_blocks
from spart_blocks.diagram.build.library import REFUSED, library_names, runtime

if TYPE_CHECKING:
    from spart_blocks.blocks import ParamSpec, PortSpec

# Base classes whose arguments the diagram gives, or that write files.
_FRAMEWORK = ("bdsim.block", "bdsim.graphics_block", "bdsim.block_types", "bdsim.components")
# Modules whose derived blocks set their parent's parameters themselves.
_FIXES_PARENT = ("bdsim.blocks.continuous", "bdsim.blocks.sampled")
_CLASSES = {
    "SourceBlock": "source",
    "GraphicsBlock": "graphics",
    "SinkBlock": "sink",
    "FunctionBlock": "function",
    "ContinuousBlock": "continuous",
    "TransferBlock": "transfer",
    "SampledBlock": "sampled",
    "ClockedBlock": "clocked",
    "SubsystemBlock": "subsystem",
}
"""The `blockclass` of a block by the name of its base class in bdsim."""
_UNIT = re.compile(r"\[(\D[^\]]*)\]$")
"""The unit at the end of the help text of a parameter that is not declared."""
_GIVEN = ("bd", "name", "inputs")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a block.

    default: None if it is required. doc: its help text. annotation: its type in the constructor.
    words: its type in words. unit: its unit. kind: kind of its input field in a form. choices: the
    texts that it can be. entries: units of its entries. above, least, most: bounds of its numbers.
    The last eight are known only if its class declares them.
    """

    name: str
    default: Any
    required: bool
    doc: str
    annotation: str
    words: str = ""
    unit: str = ""
    kind: str = ""
    choices: tuple[str, ...] = ()
    entries: Mapping[str, str] | None = None
    above: float | None = None
    least: float | None = None
    most: float | None = None

    @property
    def is_callable(self) -> bool:
        """Whether it takes a Python object such as a function or an open file."""
        return any(word in self.annotation for word in ("Callable", "TextIO"))

    @property
    def is_file(self) -> bool:
        """Whether its value is the path of a file, relative to the diagram's file."""
        return "Path" in self.annotation

    @property
    def takes_text(self) -> bool:
        """Whether a text is allowed. True if no type is declared; for a type alias such as
        BaseFrame the default decides.
        """
        words = ("str", "Any", "Literal", "object", "apping", "dict", "Callable")
        declared = not self.annotation or any(word in self.annotation for word in words)
        return declared or isinstance(self.default, str)

    @property
    def takes_only_text(self) -> bool:
        """Whether only a text is allowed."""
        return self._only == "str"

    @property
    def takes_only_truth(self) -> bool:
        """Whether only true or false is allowed."""
        return self._only == "bool"

    @property
    def takes_nothing(self) -> bool:
        """Whether null is allowed."""
        return not self.annotation or "None" in self.annotation or "Optional" in self.annotation

    @property
    def _only(self) -> str:
        """The name of the declared type, if it is a single one."""
        words = self.annotation.replace("<class '", "").replace("'>", "").replace("None", "")
        return words.replace("Optional[", "").strip(" |]")

    @property
    def takes_arrays(self) -> bool:
        """Whether a list of numbers becomes an array."""
        return "list" not in self.annotation or "ndarray" in self.annotation

    @property
    def takes_lists(self) -> bool:
        """Whether it takes a list of lists, which may have different lengths."""
        return "list[list" in self.annotation


def _declared(spec: ParamSpec) -> Parameter:
    """A parameter that its class declares."""
    default = None if spec.required else spec.default
    return Parameter(
        *(spec.name, default, spec.required, spec.told, spec.annotation, spec.words, spec.unit),
        *(spec.kind, spec.choices, spec.entries, spec.above, spec.least, spec.most),
    )


def _choices(init: Any, name: str) -> tuple[str, ...]:
    """The texts that a Literal annotation of a constructor's parameter allows."""
    try:
        return tuple(_literals(get_type_hints(init).get(name)))
    except (NameError, TypeError):  # of names that are known to type checkers alone
        return ()


def _literals(annotation: Any) -> Iterator[str]:
    for part in get_args(annotation):
        if get_origin(part) is not None or get_origin(annotation) is not Literal:
            yield from _literals(part)
        else:
            yield str(part)


@dataclass(frozen=True)
class BlockType:
    """A type of block: name, class, summary, parameters, ports, package."""

    name: str
    cls: type[Any]
    package: str
    info: Mapping[str, Any]

    @cached_property
    def summary(self) -> str:
        """The first line of the class's docstring that is not a directive."""
        lines = inspect.cleandoc(self.cls.__doc__ or "").splitlines()
        spoken = [line.strip() for line in lines if line.strip() and line.strip()[0] not in ":.*-"]
        return spoken[0] if spoken else ""

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        """The declared parameters. For classes without declarations, those of the constructor, and
        those that it passes on to a parent class.
        """
        declared = getattr(self.cls, "parameters", None)
        if isinstance(declared, tuple):
            return {spec.name: _declared(spec) for spec in declared}
        found: dict[str, Parameter] = {}
        for cls in self.cls.__mro__:
            if cls.__module__ in _FRAMEWORK or (found and cls.__module__ in _FIXES_PARENT):
                break
            if "__init__" not in cls.__dict__:
                continue
            init = cls.__dict__["__init__"]
            signature = inspect.signature(init)
            for name, parameter in list(signature.parameters.items())[1:]:
                if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                    continue
                found.setdefault(name, self._parameter(init, parameter))
            if not any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values()):
                break
        if any(cls.__name__ == "SampledBlock" for cls in self.cls.__mro__):
            found.setdefault("clock", Parameter("clock", None, True, "clock source", "Clock"))
        return {name: item for name, item in found.items() if name not in _GIVEN}

    def _parameter(self, init: Any, parameter: inspect.Parameter) -> Parameter:
        required = parameter.default is parameter.empty
        annotation = "" if parameter.annotation is parameter.empty else parameter.annotation
        _, doc = (self.info.get("params") or {}).get(parameter.name, ("", ""))
        default = None if required else parameter.default
        text = " ".join(str(doc).split())
        found = _UNIT.search(text) if self.package != "bdsim" else None
        return Parameter(
            *(parameter.name, default, required, text, str(annotation)),
            unit=found[1] if found else "",
            choices=_choices(init, parameter.name),
        )

    @cached_property
    def blockclass(self) -> str:
        """Its class in bdsim: source, sink, graphics, function, transfer, ..."""
        names = (cls.__name__ for cls in self.cls.__mro__)
        return next((_CLASSES[name] for name in names if name in _CLASSES), "function")

    @property
    def refusal(self) -> str | None:
        """Why blocks of this type cannot be used in a file; None if they can."""
        return REFUSED.get(self.name) if self.package == "bdsim" else None

    @property
    def loads_code(self) -> bool:
        """Whether it executes code from a file that its parameters name."""
        return bool(getattr(self.cls, "loads_code", False))

    @property
    def bounds_files(self) -> bool:
        """Whether it bounds itself what it reads of the files that its parameters name."""
        return self.loads_code or bool(getattr(self.cls, "bounds_files", False))

    @property
    def doc(self) -> str:
        """The help text of this type. bdsim's blocks have a part of it at their constructors."""
        ours = any(self.declared) or getattr(self.cls, "parameters", None) is not None
        told = "" if ours else self.info.get("doc")
        return str(told or self.cls.__doc__ or "")

    @cached_property
    def declared(self) -> tuple[tuple[PortSpec, ...], tuple[PortSpec, ...]]:
        """The declared input and output ports; empty for classes that do not declare them."""
        from spart_blocks.blocks import Declared

        return (self.cls.takes, self.cls.gives) if issubclass(self.cls, Declared) else ((), ())

    @cached_property
    def inputs(self) -> tuple[Port, ...]:
        """The input ports as far as the class declares them."""
        return self._ports("in_ports", "inlabels", "nin")

    @cached_property
    def outputs(self) -> tuple[Port, ...]:
        """The output ports as far as the class declares them."""
        return self._ports("out_ports", "outlabels", "nout")

    def _ports(self, table: str, labels: str, count: str) -> tuple[Port, ...]:
        declared = getattr(self.cls, table, None)
        if isinstance(declared, tuple):
            return declared
        names = getattr(self.cls, labels, None)
        if names:
            return tuple(Port(str(name)) for name in names)
        number = getattr(self.cls, count, 0)
        return tuple(Port(str(i)) for i in range(number if isinstance(number, int) else 0))

    def construct(self, bd: Any, name: str, arguments: Mapping[str, Any]) -> Any:
        """Make a block in the diagram bd. Output that bdsim prints is suppressed."""
        with redirect_stdout(StringIO()):
            return made(self.cls, bd=bd, name=name, **arguments)


def new_diagram(name: str) -> Any:
    """An empty bdsim BlockDiagram for blocks of bdsim and of this package.

    For example `bd = new_diagram("loop"); plant = bd.MULTIBODY(robot, name="plant")`.
    """
    bd = runtime().blockdiagram(name=name)
    for kind in runtime()._blocklibrary:
        setattr(bd, kind, _factory(bd, kind, getattr(bd, kind)))
    return bd


def inner_diagram(name: str) -> Any:
    """An empty bdsim BlockDiagram for a subsystem of a file. It has no methods that make blocks:
    those of all types would take milliseconds, and a file may have thousands of subsystems."""
    from bdsim.blockdiagram import BlockDiagram

    bd = BlockDiagram(name=name)
    bd.runtime = runtime()
    return bd


def _factory(bd: Any, kind: str, of_bdsim: Any) -> Any:
    """A function that makes blocks of one type. The one of bdsim 1.4 prints a traceback if a block
    refuses its arguments, and raises an error without the reason.
    """

    @wraps(of_bdsim)
    def make(*arguments: Any, **named: Any) -> Any:
        try:
            return made(runtime()._resolve_block_class(kind), *arguments, bd=bd, **named)
        except (ValueError, TypeError, AssertionError) as error:
            error.add_note(f"by the block {kind}; `spart blocks {kind}` shows what it takes")
            raise

    return make


def new_clock(bd: Any, period: float, offset: float, name: str) -> Any:
    """A clock of a diagram; period, offset [s]."""
    from bdsim.components import clocklist

    clock = bd.clock(period, offset=offset, name=name)
    # bdsim 1.4.0 keeps a list of all clocks, which would keep their diagrams in memory.
    clocklist[:] = [other for other in clocklist if other is not clock]
    return clock


def find_type(name: str) -> BlockType | None:
    """The block type of this upper-case name. Installed packages are asked last, and imported only
    for names that nothing else has.
    """
    info = _entry(name)
    if info is None or info.get("deprecated"):
        return None
    cls = info["class"]
    if not isinstance(cls, type):  # it is imported when it is first needed
        with redirect_stdout(StringIO()):
            cls = runtime()._resolve_block_class(name)
    return _block_type(name, cls, info["package"])


def _entry(name: str) -> Mapping[str, Any] | None:
    """The entry of a block type in bdsim's library, or that of an installed package."""
    info: Mapping[str, Any] | None = runtime()._blocklibrary.get(name)
    if info is None and name == name.upper():
        return installed_blocks().types.get(name)
    return info


@cache
def _block_type(name: str, cls: type[Any], package: str) -> BlockType:
    return BlockType(name, cls, package, _entry(name) or {})


def type_names() -> list[str]:
    """Every block type that a file can name, sorted."""
    return sorted({*library_names(), *installed_blocks().types})


def block_types() -> list[BlockType]:
    """Every block type that a file can name, sorted by name."""
    found = (find_type(name) for name in type_names())
    return [kind for kind in found if kind is not None]


def port_names(ports: tuple[Port, ...]) -> str:
    """A list of ports for an error message."""
    if not ports:
        return "none"
    shown = [port.name for port in ports[:24]]
    return ", ".join(shown) + (", ..." if len(ports) > 24 else "")


_PLAIN_NAME = re.compile(r"[^\s.,/=\[\]\\${}^]+")


def name_problem(name: str) -> str | None:
    """Why a block cannot have this name; None if it can. Letters of every script are allowed."""
    import unicodedata

    if not name:
        return "is empty"
    if not name.isprintable() or not _PLAIN_NAME.fullmatch(name) or "->" in name:
        return "has a space, '->' or one of . , / = [ ] \\ $ { } ^"
    plain = unicodedata.normalize("NFKC", name)
    # bdsim 1.4.0 normalises names with a warning, after which a wire no longer finds them.
    return None if plain == name else f"is not in Unicode's normal form; write {plain!r}"
