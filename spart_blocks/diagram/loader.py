"""`load`: a YAML file -> a checked Diagram, or every mistake of the file at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spart_blocks.diagram.arguments import ArgumentReader, Catalogue, arrays
from spart_blocks.diagram.build import Builder
from spart_blocks.diagram.collector import collector_paused
from spart_blocks.diagram.document import Document, Key, Keys, read_document
from spart_blocks.diagram.files import project_root, read_robot
from spart_blocks.diagram.model import Diagram
from spart_blocks.diagram.overrides import Overrides, apply_overrides
from spart_blocks.diagram.references import Resolver, Scope
from spart_blocks.diagram.registry import name_problem, new_diagram
from spart_blocks.diagram.schema import DiagramSection, validate
from spart_blocks.diagram.subsystems import check_subsystems
from spart_blocks.diagram.tunable import read_tunable
from spart_blocks.diagram.wires import complete
from spart_blocks.diagram.wiring import Wiring
from spart_blocks.errors import DiagramError, Fault, InputError, Place
from spart_blocks.robot import Robot

MAX_SHOWN = 100


def load(path: str | Path, *, overrides: Overrides = (), root: str | Path | None = None) -> Diagram:
    """Read a diagram from a YAML file.

    overrides: `{"params.kp": 3}` or `["params.kp=3"]`; root: the folder that the files the
    diagram names must lie in, by default its project's. Raises DiagramError with every
    mistake of the file, each with its line and column. Format: docs/diagrams.md.
    """
    with collector_paused():
        return _load(Path(path), overrides, root)


def _load(file: Path, overrides: Overrides, root: str | Path | None) -> Diagram:
    document = read_document(file)
    faults: list[Fault] = []
    document = apply_overrides(document, overrides, faults)
    loading = _Loading(
        document, faults, file, Path(root) if root else project_root(file.absolute())
    )
    try:
        diagram = loading.diagram()
    except DiagramError as error:
        raise DiagramError(_in_order(error.faults)) from None
    if faults:
        raise DiagramError(_in_order(tuple(faults)))
    return diagram


def as_diagram(diagram: Diagram | str | Path | Any) -> Diagram:
    """A checked diagram from a path, a diagram, or a bdsim BlockDiagram."""
    if isinstance(diagram, (str, Path)):
        return load(diagram)
    if isinstance(diagram, Diagram):
        return diagram
    if not hasattr(diagram, "blocklist") or not hasattr(diagram, "wirelist"):
        raise InputError(
            f"a diagram is a path, a loaded diagram or a bdsim BlockDiagram, not {_short(diagram)}"
        )
    complete(diagram)
    return Diagram(name=str(diagram.name), bd=diagram)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 80 else f"a {type(value).__name__}"


def _in_order(faults: tuple[Fault, ...]) -> list[Fault]:
    """Each fault once, in the order of the file; what is in another file comes last."""
    files = list(dict.fromkeys(fault.place.file for fault in faults if fault.place))

    def position(fault: Fault) -> tuple[int, int, int]:
        place = fault.place or Place("")
        number = files.index(place.file) if place.file in files else len(files)
        return number, place.line or 0, place.column or 0

    ordered = sorted(dict.fromkeys(faults), key=position)
    if len(ordered) > MAX_SHOWN:
        more = Fault(f"and {len(ordered) - MAX_SHOWN} more mistakes")
        return [*ordered[:MAX_SHOWN], more]
    return ordered


@dataclass
class _Loading:
    document: Document
    faults: list[Fault]
    file: Path
    root: Path
    places: dict[str, Place] = field(default_factory=dict)
    read: list[Path] = field(default_factory=list)

    def diagram(self) -> Diagram:
        """Every section in turn; faults are collected, and only the caller raises them."""
        resolver = Resolver(self.document, self.faults)
        scope = self._params(resolver)
        data, unresolved = self._resolved(resolver, scope)
        sections, faults, dropped = validate(self.document, data, unresolved)
        self.faults += faults
        robots = self._robots(sections, dropped)
        bd = new_diagram(sections.name or self.file.stem)
        clocks = self._clocks(sections, bd, dropped)
        broken = check_subsystems(sections.subsystems, sections.blocks, self.document, self.faults)
        builder = Builder(
            document=self.document,
            faults=self.faults,
            places=self.places,
            subsystems={k: v for k, v in sections.subsystems.items() if k not in broken},
            broken_subsystems=broken | _names(dropped, "subsystems"),
            resolver=resolver,
            reader=ArgumentReader(self.document, self.faults, Catalogue(robots, clocks)),
            scope=scope,
        )
        known_bad = _names(dropped, "blocks")
        wiring = builder.level(bd, sections.blocks, sections.wires, scope, broken=known_bad)
        self._check_content(sections, dropped)
        self._log(sections, wiring)
        tunable = self._tunable(sections, robots, dropped)
        wiring.finish()
        builder.check_unused()
        return Diagram(
            name=sections.name or self.file.stem,
            bd=bd,
            run=sections.run,
            robots={name: robot for name, robot in robots.items() if robot is not None},
            params={name: arrays(item.value) for name, item in scope.values.items()},
            source=self.file,
            places=self.places,
            shared={name: tuple(pairs) for name, pairs in builder.shared.items()},
            tunable=tunable,
            files=tuple(self.read),
        )

    def _params(self, resolver: Resolver) -> Scope:
        raw = self.document.data.get("params")
        raw = raw if isinstance(raw, dict) else {}
        for name in raw:
            if not name.isidentifier():
                message = f"the parameter name {name[:60]!r} must be letters, digits and _"
                self.faults.append(Fault(message, self.document.key_place("params", name)))
        return resolver.scope(raw, ("params",))

    def _resolved(self, resolver: Resolver, scope: Scope) -> tuple[dict[str, Any], set[Keys]]:
        """The data with references replaced in run, clocks and robots, and where they fail."""
        data = dict(self.document.data)
        unresolved: set[Keys] = set()
        for name in ("run", "clocks", "robots"):
            section = data.get(name)
            if not isinstance(section, dict):
                continue
            found = {
                key: resolver.resolve(value, scope, (name, key)) for key, value in section.items()
            }
            unresolved |= {(name, key) for key, item in found.items() if not item.complete}
            data[name] = {key: item.value for key, item in found.items()}
        return data, unresolved

    def _robots(self, sections: DiagramSection, dropped: set[Keys]) -> dict[str, Robot | None]:
        robots: dict[str, Robot | None] = dict.fromkeys(_names(dropped, "robots"))
        for name, section in sections.robots.items():
            robots[name] = read_robot(
                section, name, self.document, self.root, self.faults, self.read
            )
        return robots

    def _clocks(self, sections: DiagramSection, bd: Any, dropped: set[Keys]) -> dict[str, Any]:
        clocks: dict[str, Any] = dict.fromkeys(_names(dropped, "clocks"))
        for name, section in sections.clocks.items():
            problem = name_problem(name)
            if problem:
                message = f"the clock name {name[:60]!r} {problem}"
                self.faults.append(Fault(message, self.document.key_place("clocks", name)))
            clocks[name] = bd.clock(section.period, offset=section.offset, name=name)
            self.places[f"clocks.{name}"] = self.document.key_place("clocks", name)
        return clocks

    def _check_content(self, sections: DiagramSection, dropped: set[Keys]) -> None:
        whole: tuple[Key, ...] = ("blocks",)
        if not sections.blocks and not _names(dropped, "blocks") and whole not in dropped:
            hint = "write name: {type: ...} under blocks:"
            self.faults.append(Fault("there are no blocks", self.document.place("blocks"), hint))

    def _tunable(
        self, sections: DiagramSection, robots: Mapping[str, Any], dropped: set[Keys]
    ) -> tuple[str, ...]:
        asked = {
            number: text
            for number, text in enumerate(sections.tunable)
            if ("tunable", number) not in dropped
        }
        return read_tunable(asked, robots, self.document, self.faults)

    def _log(self, sections: DiagramSection, wiring: Wiring) -> None:
        for number, text in enumerate(sections.run.log):
            wiring.check_signal(text, ("run", "log", number))


def _names(paths: set[Keys], section: str) -> set[str]:
    return {str(path[1]) for path in paths if path[0] == section and len(path) > 1}
