"""The contents of a diagram's files: their sections, and the files that they use."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Generic

from spart_blocks.base.document import Document, Key, Keys
from spart_blocks.base.errors import DiagramError, Fault, Place
from spart_blocks.diagram.build.arguments import ArgumentReader, Catalogue, arrays
from spart_blocks.diagram.build.build import Builder
from spart_blocks.diagram.build.own_blocks import is_allowed
from spart_blocks.diagram.build.product import Part, Product
from spart_blocks.diagram.build.registry import BlockType, name_problem, new_clock, new_diagram
from spart_blocks.diagram.build.subsystems import MAX_LEVELS, check_ports, check_subsystems
from spart_blocks.diagram.diagram import Diagram
from spart_blocks.diagram.network.levels import check_tags
from spart_blocks.diagram.sections.declarations import check_declared
from spart_blocks.diagram.sections.drawing_section import check_drawing
from spart_blocks.diagram.sections.expectations import ExpectSection
from spart_blocks.diagram.sections.robot_section import read_tunable
from spart_blocks.diagram.sections.schema import AnyFile, DiagramSection, PartSection, validate
from spart_blocks.diagram.sections.table import FILE_SECTIONS
from spart_blocks.diagram.written.files import MAX_BYTES, Robots, UsedFiles, existing, inside
from spart_blocks.diagram.written.references import MAX_EXPANDED, Resolved, Resolver, Scope
from spart_blocks.diagram.written.sheets import GATES, File, Sheet
from spart_blocks.robot import Robot

MAX_USES = 2000


@dataclass
class Files:
    """Data shared by all files of one diagram.

    root: the project's root folder. bd: the diagram, which has all clocks. read: files read
    besides the diagram's own. used: files with ports. uses: number of their uses. values: number
    of values read for them.
    """

    root: Path
    bd: Any = None
    product: Product = field(default_factory=Product)
    read: list[Path] = field(default_factory=list)
    used: UsedFiles = field(init=False)
    uses: int = 0
    values: int = 0
    robots: Robots = field(init=False)

    def __post_init__(self) -> None:
        self.robots = Robots(self.root)
        self.used = UsedFiles(self.root)

    def part(
        self,
        user: _Content[Any],
        given: str,
        place: Place,
        parameters: Mapping[str, Resolved],
        prefix: str,
    ) -> Part | None:
        """Build a file with ports that a block uses; None after a fault. given: its path as
        written in the file `user`.
        """
        path = existing(given, user.document, self.root, place, self.product.faults)
        if path is None or self._circular(path, user.around, given, place):
            return None
        self.uses += 1
        if self.uses > MAX_USES:
            message = f"files are used more than {MAX_USES} times"
            hint = "use fewer files in each other"
            raise DiagramError([*self.product.faults, Fault(message, place, hint)])
        if path not in self.used.known:
            self.read.append(path)
        file = self.used.read(path, given, user.document, self.product.faults)
        if file is None:
            return None
        self.values += file.document.root.size
        if self.values > MAX_EXPANDED:
            message = f"the files that are used have more than {MAX_EXPANDED} values, each use anew"
            hint = "use them less often, or make them smaller"
            raise DiagramError([*self.product.faults, Fault(message, place, hint)])
        around = (*user.around, path)
        part = _PartContent(file, self, around, prefix, PartSection, user.catalogue)
        return part.part(parameters)

    def _circular(self, path: Path, around: tuple[Path, ...], given: str, place: Place) -> bool:
        if path in around:
            chain = " uses ".join(file.name for file in (*around[around.index(path) :], path))
            hint = "take one of these uses out"
            self.product.faults.append(Fault(f"{given} uses itself: {chain}", place, hint))
        elif len(around) > MAX_LEVELS:
            message = f"more than {MAX_LEVELS} files in each other"
            self.product.faults.append(Fault(message, place, "take one of these uses out"))
        else:
            return False
        return True


@dataclass
class _Content(Generic[AnyFile]):
    """The contents of one file: the diagram's own, or one that it uses.

    around: the enclosing files, and this one. prefix: the names of the enclosing blocks, such as
    `arm/`. model: pydantic model of its sections. catalogue: the robots and clocks that its blocks
    can name, including those of the enclosing file.
    """

    file: File
    files: Files
    around: tuple[Path, ...]
    prefix: str
    model: type[AnyFile]
    catalogue: Catalogue = field(default_factory=lambda: Catalogue({}, {}))

    @property
    def document(self) -> Document:
        return self.file.document

    @property
    def faults(self) -> list[Fault]:
        return self.files.product.faults

    def begin(
        self, given: Mapping[str, Resolved], *, named: bool
    ) -> tuple[AnyFile, Scope, Builder, set[Keys], dict[str, Robot | None]]:
        """Validate the file. Returns its sections, the scope and builder of its blocks, the paths
        of the entries that were left out because of faults, and the robots. Collects faults.
        """
        origins = self.files.product.origins
        resolver = Resolver(self.document, self.faults, elsewhere=origins.elsewhere)
        scope = self._params(resolver, given, named)
        if named:
            origins.values |= {("params", name): item.value for name, item in scope.values.items()}
        data, unresolved = self._resolved(resolver, scope)
        sections, faults, dropped = validate(self.document, data, self.model, unresolved)
        self.files.product.faults += faults
        robots: dict[str, Robot | None] = dict.fromkeys(_names(dropped, "robots"))
        for name, section in sections.robots.items():
            robots[name] = self.files.robots.read(
                section, name, self.document, self.faults, self.files.read
            )
        clocks = self._clocks(sections, dropped)
        self.catalogue = Catalogue(
            {**self.catalogue.robots, **robots}, {**self.catalogue.clocks, **clocks}
        )
        top = self.file.top
        names = {*top.blocks, *self.file.slots, *(GATES if top.has_gates else ())}
        check_drawing(sections.drawing, names, self.document, (), self.faults)
        broken = check_subsystems(sections.subsystems, sections.blocks, self.document, self.faults)
        builder = Builder(
            file=self.file,
            product=self.files.product,
            subsystems={k: v for k, v in sections.subsystems.items() if k not in broken},
            broken_subsystems=broken | _names(dropped, "subsystems"),
            resolver=resolver,
            reader=ArgumentReader(self.document, self.faults, self.catalogue, self._file),
            use=partial(self.files.part, self),
        )
        return sections, scope, builder, dropped, robots

    def _file(self, kind: BlockType, given: str, place: Place) -> Path | None:
        """The path of a file that a block names; None after a fault. If the block runs code from
        the file, the user must have allowed it. Its size is limited, unless the block does that.
        """
        most = sys.maxsize if kind.bounds_files else MAX_BYTES
        path = existing(given, self.document, self.files.root, place, self.faults, most)
        if path is None:
            return None
        if kind.loads_code and not is_allowed(path):
            message = f"{given} holds machine code, which is run only where you allow it"
            hint = (
                f"to allow it, name the file: --blocks {_as_typed(path)}, or blocks=[...] in Python"
            )
            self.faults.append(Fault(message, place, hint))
            return None
        self.files.read.append(path)
        return path

    def _params(self, resolver: Resolver, given: Mapping[str, Resolved], named: bool) -> Scope:
        raw = self.document.data.get("params")
        raw = raw if isinstance(raw, dict) else {}
        for name in raw:
            if not name.isidentifier():
                message = f"the parameter name {name[:60]!r} must be letters, digits and _"
                self.faults.append(Fault(message, self.document.key_place("params", name)))
        return resolver.scope(raw, ("params",), None, given, named)

    def _resolved(self, resolver: Resolver, scope: Scope) -> tuple[dict[str, Any], set[Keys]]:
        """The data with references replaced, except in blocks, and the paths at which
        this fails.
        """
        data = dict(self.document.data)
        unresolved: set[Keys] = set()
        for name in (name for name, row in FILE_SECTIONS.items() if row.refers):
            section = data.get(name)
            if not isinstance(section, dict):
                continue
            found = {
                key: resolver.resolve(value, scope, (name, key), followed=name == "expect")
                for key, value in section.items()
            }
            unresolved |= {(name, key) for key, item in found.items() if not item.complete}
            data[name] = {key: item.value for key, item in found.items()}
        return data, unresolved

    def _clocks(self, sections: AnyFile, dropped: set[Keys]) -> dict[str, Any]:
        clocks: dict[str, Any] = dict.fromkeys(_names(dropped, "clocks"))
        for name, section in sections.clocks.items():
            problem = name_problem(name)
            if problem:
                message = f"the clock name {name[:60]!r} {problem}"
                self.faults.append(Fault(message, self.document.key_place("clocks", name)))
            full = self.prefix + name
            clocks[name] = new_clock(self.files.bd, section.period, section.offset, full)
            self.files.product.places[f"clocks.{full}"] = self.document.key_place("clocks", name)
        return clocks


class DiagramContent(_Content[DiagramSection]):
    """The content of a diagram's own file."""

    @staticmethod
    def of(document: Document, source: Path, root: Path) -> DiagramContent:
        """The contents of a document that was read from the file `source`."""
        return DiagramContent(File(document), Files(root), (source.resolve(),), "", DiagramSection)

    def expectations(self) -> tuple[ExpectSection, Path | None]:
        """The section `expect:`, and the path of the baseline file."""
        resolver = Resolver(self.document, self.faults)
        data, unresolved = self._resolved(resolver, self._params(resolver, {}, True))
        alone = {"blocks": {}, "expect": data["expect"]}
        bad = [path for path in unresolved if path[0] == "expect"]
        sections, faults, _ = validate(self.document, alone, DiagramSection, bad)
        self.files.product.faults += faults
        section = sections.expect or ExpectSection.model_validate({})
        self._check_success(section)
        return section, self._baseline(section)

    def structure(self) -> list[Fault]:
        """The faults of the sections, without those of blocks and wires."""
        resolver = Resolver(self.document, self.faults)
        data, unresolved = self._resolved(resolver, self._params(resolver, {}, True))
        return validate(self.document, data, DiagramSection, unresolved)[1]

    def block(self, name: str) -> Any:
        """Build one block without wires; None after a fault."""
        self.files.bd = new_diagram(name)
        sections, scope, builder, _, _ = self.begin({}, named=True)
        if name not in sections.blocks:
            return None
        alone = {name: sections.blocks[name]}
        return builder.level(self.files.bd, Sheet((), {}), alone, scope).blocks.get(name)

    def diagram(self, source: Path) -> Diagram:
        """Build the diagram. Faults are collected, and the caller must raise them."""
        self.files.bd = new_diagram(source.stem)
        sections, scope, builder, dropped, robots = self.begin({}, named=True)
        bd, product = self.files.bd, self.files.product
        bd.name = sections.name or source.stem
        known_bad = _names(dropped, "blocks")
        wiring = builder.level(bd, self.file.top, sections.blocks, scope, broken=known_bad)
        self._check_content(sections, dropped)
        sections.check(wiring)
        values = {name: item.value for name, item in scope.values.items()}
        check_declared(sections.declare, values, self.document, self.faults)
        if sections.expect is not None:
            self._check_success(sections.expect)
            self._baseline(sections.expect)
        tunable = self._tunable(sections, robots, dropped)
        wiring.finish()
        builder.check_unused(scope)
        if not self.faults:
            self.files.product.faults += check_tags(bd, product.places)
        return Diagram(
            name=bd.name,
            bd=bd,
            sections=sections.alone(),
            robots={name: robot for name, robot in robots.items() if robot is not None},
            declared=sections.declare,
            params={name: arrays(item.value) for name, item in scope.values.items()},
            source=source,
            places=product.places,
            origins=product.origins.origins(),
            tunable=tunable,
            drawing=sections.drawing,
            files=tuple(self.files.read),
            packages=frozenset(product.packages),
        )

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

    def _check_success(self, expect: ExpectSection) -> None:
        """Add a fault for a claim about a sweep if there is no `sweep:` section."""
        if expect.success is not None and "sweep" not in self.document.data:
            place = self.document.place("expect", "success")
            hint = "write sweep: {runs: 300, over: {...}}, which says what the runs differ in"
            self.faults.append(
                Fault("success is about a sweep, and there is no sweep:", place, hint)
            )

    def _baseline(self, expect: ExpectSection) -> Path | None:
        """The path of the baseline file, which need not exist yet."""
        if expect.baseline is None:
            return None
        given = expect.baseline.file or f"baselines/{self.around[0].stem}.csv"
        place = self.document.place("expect", "baseline", "file")
        if not given.endswith(".csv"):
            message = f"the baseline {given[:80]!r} must end in .csv"
            self.faults.append(Fault(message, place))
            return None
        return inside(given, self.document, self.files.root, place, self.faults)


class _PartContent(_Content[PartSection]):
    """The contents of a file with ports; it is built once for each use."""

    def part(self, given: Mapping[str, Resolved]) -> Part | None:
        """Build its blocks and wires with the given parameters; None after a fault."""
        sections, scope, builder, dropped, _ = self.begin(given, named=False)
        before = len(self.faults)
        check_ports(sections, (), self.document, self.faults)
        if len(self.faults) > before:
            return None
        label = self.around[-1].name
        broken = _names(dropped, "blocks")
        wiring = builder.with_ports(sections, label, scope, self.file.top, self.prefix, broken)
        builder.check_unused(scope)
        return None if wiring is None else (sections, wiring)


def _names(paths: set[Keys], section: str) -> set[str]:
    return {str(path[1]) for path in paths if path[0] == section and len(path) > 1}


def _as_typed(path: Path) -> str:
    """A path relative to the current folder if it is inside this, otherwise absolute."""
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)
