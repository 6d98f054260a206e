"""`load`: from a YAML file to a checked Diagram, or an error with all faults of its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from spart_blocks.base.document import Document, read_document
from spart_blocks.base.errors import DiagramError, Fault, InputError, Place, refusing
from spart_blocks.diagram.build.block_values import settle_values
from spart_blocks.diagram.build.connect import complete
from spart_blocks.diagram.build.content import DiagramContent
from spart_blocks.diagram.build.own_blocks import add_blocks
from spart_blocks.diagram.build.paused_collector import collector_paused
from spart_blocks.diagram.check.interface_check import Choices
from spart_blocks.diagram.diagram import Diagram
from spart_blocks.diagram.sections.expectations import Expectations
from spart_blocks.diagram.sections.schema import VariantSection
from spart_blocks.diagram.written.files import Robots, project_root
from spart_blocks.diagram.written.overrides import Overrides, apply_overrides
from spart_blocks.diagram.written.references import MAX_EXPANDED
from spart_blocks.diagram.written.variants import (
    Asked,
    Chosen,
    chosen_of,
    read_variants,
    with_choices,
)

MAX_SHOWN = 100
BLOCK_COST = 10
"""Number of values that take as long to read as one block takes to build."""


def load(
    path: str | Path,
    *,
    overrides: Overrides = (),
    root: str | Path | None = None,
    variants: Asked = (),
    blocks: Sequence[str | Path] = (),
) -> Diagram:
    """Read a diagram from a YAML file.

    overrides: `{"params.kp": 3}` or `["params.kp=3"]`. root: the folder that the files the
    diagram names must lie in, by default its project's. variants: the choice for each of
    the file's slots, `{"controller": "lqr"}` or `["controller=lqr"]`, where not its default.
    blocks: modules, packages or Python files of the user's own blocks, which are imported.
    Raises DiagramError with every mistake of its files, each with its line and column.
    Format: docs/diagrams.md.
    """
    file = Path(path)
    with collector_paused(), _reading(file):
        if blocks:
            add_blocks(*([blocks] if isinstance(blocks, (str, Path)) else blocks))
        return _of_document(read_document(file), file, overrides, root, variants)


def load_document(
    document: Document,
    path: str | Path,
    root: str | Path | None = None,
    overrides: Overrides = (),
    variants: Asked = (),
    blocks: Sequence[str | Path] = (),
) -> Diagram:
    """The diagram of a parsed document. path: its file; relative paths in the document start at
    its folder. Other arguments and errors are as for `load`.
    """
    file = Path(path)
    with collector_paused(), _reading(file):
        if blocks:
            add_blocks(*blocks)
        return _of_document(document, file, overrides, root, variants)


def structure_faults(document: Document, path: str | Path) -> list[Fault]:
    """The faults in the structure of a diagram file's sections, found without its blocks: missing
    and unknown entries, and entries of a wrong kind.
    """
    file = Path(path)
    with _reading(file):
        return DiagramContent.of(document, file, project_root(file.absolute())).structure()


@dataclass(frozen=True)
class Attempt:
    """The parts of a diagram that can be built in spite of faults.

    bd: bdsim's BlockDiagram with the valid blocks and wires. diagram: the whole diagram; None if
    there are faults. faults: all of them.
    """

    bd: Any
    diagram: Diagram | None
    faults: tuple[Fault, ...] = ()


def attempt(
    document: Document, file: Path, root: str | Path | None = None, variants: Asked = ()
) -> Attempt:
    """Build as much of a diagram as its faults allow. document: as it was read from the file.
    Arguments as for `load`; does not raise an error for faults of the file.
    """
    limit = Path(root) if root else project_root(file.absolute())
    faults: list[Fault] = []
    others: tuple[Path, ...] = ()
    slots: Mapping[str, VariantSection] = {}
    content: DiagramContent | None = None
    diagram: Diagram | None = None
    chosen: Chosen = {}
    with collector_paused():
        try:
            with _reading(file):
                slots = read_variants(document)
                chosen = chosen_of(slots, variants)
                others = _check_choices(document, slots, file, limit) if slots else ()
        except InputError as error:
            faults += error.faults
        try:
            with _reading(file):
                document = with_choices(document, slots if chosen else {}, chosen)
                content = DiagramContent.of(document, file, limit)
                diagram = content.diagram(file)
            faults += content.faults
        except InputError as error:
            faults += error.faults
    if diagram is not None and slots and chosen:
        diagram = _with_variants(diagram, slots, chosen, others)
    found = tuple(_in_order(tuple(faults)))
    return Attempt(content and content.files.bd, None if found else diagram, found)


def _of_document(
    document: Document, file: Path, overrides: Overrides, root: str | Path | None, variants: Asked
) -> Diagram:
    limit = Path(root) if root else project_root(file.absolute())
    slots = read_variants(document)
    chosen = chosen_of(slots, variants)
    others = _check_choices(document, slots, file, limit) if slots else ()
    faults: list[Fault] = []
    document = apply_overrides(with_choices(document, slots, chosen), overrides, faults, limit)
    diagram = _checked(DiagramContent.of(document, file, limit), file, faults)
    return _with_variants(diagram, slots, chosen, others)


def _reading(file: Path) -> AbstractContextManager[None]:
    """Context manager that turns any exception of reading a file into a DiagramError that names
    it.
    """
    return refusing(DiagramError, Place(str(file)), "cannot be read as a diagram")


def load_expectations(
    path: str | Path,
    *,
    overrides: Overrides = (),
    root: str | Path | None = None,
    variants: Asked = (),
) -> Expectations | None:
    """Read only the `expect:` section of a diagram file; None if it has none. Arguments as for
    `load`. Only `load` checks that its signals exist. Raises DiagramError.
    """
    file = Path(path)
    with _reading(file):
        document = read_document(file)
    return expectations_of(document, file, overrides, root, variants)


def expectations_of(
    document: Document,
    file: Path,
    overrides: Overrides = (),
    root: str | Path | None = None,
    variants: Asked = (),
) -> Expectations | None:
    """As `load_expectations`, for a document that is already parsed."""
    if "expect" not in document.data:
        return None
    with _reading(file):
        faults: list[Fault] = []
        slots = read_variants(document)
        document = with_choices(document, slots, chosen_of(slots, variants))
        limit = Path(root) if root else project_root(file.absolute())
        document = apply_overrides(document, overrides, faults, limit)
        content = DiagramContent.of(document, file, limit)
        section, baseline = content.expectations()
        faults += content.faults
        if faults:
            raise DiagramError(_in_order(tuple(faults)))
        name = document.data.get("name")
        return Expectations(
            name=name if isinstance(name, str) else file.stem,
            section=section,
            baseline=baseline,
            places={keys: document.place("expect", *keys) for keys in section.paths()},
        )


def _checked(content: DiagramContent, file: Path, faults: Sequence[Fault] = ()) -> Diagram:
    """Build the diagram, and raise DiagramError for its faults. faults: those found before."""
    try:
        diagram = content.diagram(file)
        faults = (*faults, *content.faults)
    except DiagramError as error:
        raise DiagramError(_in_order((*faults, *error.faults))) from None
    if faults:
        raise DiagramError(_in_order(faults))
    return diagram


def _check_choices(
    document: Document, slots: Mapping[str, VariantSection], file: Path, root: Path
) -> tuple[Path, ...]:
    """Check the interfaces of all choices of a file; returns the files that they read."""
    read: dict[Path, None] = {}
    robots = Robots(root)

    spent = 0

    def content_of(chosen: Chosen) -> DiagramContent:
        nonlocal spent
        if spent > MAX_EXPANDED:
            hint = "write fewer choices, or smaller ones"
            message = "all choices together are too large to be built one after another"
            raise DiagramError(Fault(message, document.key_place("variants"), hint))
        content = DiagramContent.of(with_choices(document, slots, chosen), file, root)
        content.files.robots = robots
        spent += document.root.size
        return content

    def block(chosen: Chosen, slot: str) -> Any:
        content = content_of(chosen)
        made = content.block(slot)
        if made is None:
            raise DiagramError(content.faults)
        return made

    def whole(chosen: Chosen) -> Diagram:
        nonlocal spent
        content = content_of(chosen)
        made = _checked(content, file)
        spent += content.files.values + BLOCK_COST * content.files.product.blocks
        read.update(dict.fromkeys(made.files))
        return made

    Choices(document, slots, block, whole).check()
    return tuple(read)


def _with_variants(
    diagram: Diagram, slots: Mapping[str, VariantSection], chosen: Chosen, read: Sequence[Path]
) -> Diagram:
    """The diagram with its choices in its name, and the files of other choices among its files."""
    others = [f"{slot}={c}" for slot, c in chosen.items() if c != slots[slot].default]
    name = f"{diagram.name} ({', '.join(others)})" if others else diagram.name
    files = tuple(dict.fromkeys((*diagram.files, *read)))
    return replace(diagram, name=name, variants=dict(chosen), files=files)


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
    settle_values(diagram)
    return Diagram(name=str(diagram.name), bd=diagram)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 80 else f"a {type(value).__name__}"


def _in_order(faults: tuple[Fault, ...]) -> list[Fault]:
    """The faults without duplicates, in the order of the file; those in other files come last."""
    files = list(dict.fromkeys(fault.place.file for fault in faults if fault.place))

    def position(fault: Fault) -> tuple[int, int, int]:
        place = fault.place or Place("")
        number = files.index(place.file) if place.file in files else len(files)
        return number, place.line or 0, place.column or 0

    once: dict[tuple[str, Place | None], Fault] = {}
    for fault in faults:  # that of a subsystem comes with each use, the first time with a hint
        once.setdefault((fault.message, fault.place), fault)
    ordered = sorted(once.values(), key=position)
    if len(ordered) > MAX_SHOWN:
        more = Fault(f"and {len(ordered) - MAX_SHOWN} more mistakes")
        return [*ordered[:MAX_SHOWN], more]
    return ordered
