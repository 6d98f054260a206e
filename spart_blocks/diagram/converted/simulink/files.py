"""Reads models of Simulink: `.slx` (a zip file of XML), `.mdl` (nested sections of text), and newer
`.mdl` (a text with the XML of an `.slx` in it). Nothing in a file is run.

All three become one tree of sections, each with its kind, its values as texts, and its parts.
Source: The MathWorks, "Simulink User's Guide" (R2024b), "Model File Formats".
"""

from __future__ import annotations

import base64
import binascii
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from lxml import etree

from spart_blocks.base.errors import Fault, InputError, Place, brief
from spart_blocks.results.archives import opened

MOST_BYTES = 64 * 2**20
"""Limit of a file, and of what is unpacked of it."""
MOST_SECTIONS = 500_000
DEEPEST = 100
_PACKAGE, _PART, _END = "__MWOPC_PACKAGE_BEGIN__", "__MWOPC_PART_BEGIN__", "__MWOPC_PACKAGE_END__"
_LINE = re.compile(r"\s*([\w.$:-]+)\s*(.*?)\s*$")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t"}


@dataclass
class Section:
    """A section of a model. values: texts by name. line: where it begins, None within an .slx."""

    kind: str
    line: int | None = None
    values: dict[str, str] = field(default_factory=dict)
    parts: list[Section] = field(default_factory=list)

    def all(self, kind: str) -> Iterator[Section]:
        """The parts of a kind."""
        return (part for part in self.parts if part.kind == kind)

    def first(self, kind: str) -> Section | None:
        return next(self.all(kind), None)


@dataclass(frozen=True)
class ModelFile:
    """What a model file holds. root: its `Model` or `Library`. defaults: the values of blocks that
    a file leaves out, by type of block. settings: those of a run, such as StopTime. code: what the
    model has run when it is loaded or begins, by the name of the call.
    """

    path: Path
    root: Section
    system: Section
    defaults: Mapping[str, Mapping[str, str]]
    settings: Mapping[str, str]
    code: Mapping[str, str]


def read_model_file(path: Path) -> ModelFile:
    """Read a model. Raises InputError with file and line."""
    data = _bytes(path)
    if data.startswith(b"PK") or path.suffix == ".slx":
        return _of_parts(path, _unpacked(path))
    text = data.decode("utf-8", "replace")
    if _PACKAGE in text:
        return _of_parts(path, _packaged(path, text))
    top = _sections(path, text)
    root = top.first("Model") or top.first("Library")
    if root is None:
        refuse(path, "it is no model of Simulink", None, "it has no section Model")
    return _model(path, root, root.first("System"), root)


def refuse(path: Path, message: str, line: int | None = None, hint: str | None = None) -> NoReturn:
    raise InputError(Fault(message, Place(str(path), line), hint))


def _bytes(path: Path) -> bytes:
    try:
        if not path.is_file():
            refuse(path, "there is no such file")
        if path.stat().st_size > MOST_BYTES:
            refuse(path, f"it has more than {MOST_BYTES / 2**20:.0f} MB")
        return path.read_bytes()
    except OSError as error:
        refuse(path, f"it cannot be read: {error.strerror}")


# --- sections of text ----------------------------------------------------------------------------


def _sections(path: Path, text: str) -> Section:
    """The sections of an .mdl file."""
    top = Section("")
    stack = [top]
    key, count = "", 0
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if line == "}":
            if len(stack) == 1:
                refuse(path, "a } without its {", number)
            stack.pop()
        elif line.startswith('"'):  # goes on with the text of the line before
            if key not in stack[-1].values:
                refuse(path, "a text without a name", number)
            stack[-1].values[key] += _text(path, line, number)
        elif line.endswith("{"):
            count += 1
            if len(stack) > DEEPEST or count > MOST_SECTIONS:
                refuse(path, "it has too many sections, or nests them too deeply", number)
            stack.append(Section(line[:-1].strip(), number))
            stack[-2].parts.append(stack[-1])
        else:
            found = _LINE.match(line)
            if found is None:
                refuse(path, f"{brief(line)} is no value", number)
            key = found[1]
            if key == "Cell":  # an entry of an array; there are several
                stack[-1].parts.append(Section(key, number, {"": _text(path, found[2], number)}))
                count += 1
                if count > MOST_SECTIONS:
                    refuse(path, "it has too many sections", number)
            else:
                stack[-1].values[key] = _text(path, found[2], number)
    if len(stack) > 1:
        refuse(path, f"section {brief(stack[-1].kind)} has no }}", stack[-1].line)
    return top


def _text(path: Path, raw: str, number: int) -> str:
    if not raw.startswith('"'):
        return raw
    if len(raw) < 2 or not raw.endswith('"'):
        refuse(path, f"a text without its end: {brief(raw)}", number)
    return _ESCAPE.sub(lambda found: _ESCAPES.get(found[1], found[1]), raw[1:-1])


# --- parts of packages ---------------------------------------------------------------------------


def _unpacked(path: Path) -> dict[str, bytes]:
    """The XML of an .slx file by name."""
    found: dict[str, bytes] = {}
    left = MOST_BYTES
    try:
        with opened(path) as archive:
            for item in archive.infolist():
                if not item.filename.endswith(".xml") or not item.filename.startswith("simulink/"):
                    continue
                with archive.open(item) as file:
                    data = file.read(left + 1)
                left -= len(data)
                if left < 0:
                    refuse(path, f"it unpacks to more than {MOST_BYTES / 2**20:.0f} MB")
                found[item.filename] = data
    except InputError as error:
        if error.faults[0].place is not None:
            raise
        refuse(path, error.faults[0].message)
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, RuntimeError) as error:
        refuse(path, f"it is no .slx file: {brief(str(error))}")
    except Exception as error:  # zlib's, and whatever a damaged directory causes
        refuse(path, f"it is damaged: {type(error).__name__}")
    return found


def _packaged(path: Path, text: str) -> dict[str, bytes]:
    """The parts of a text package by name."""
    found: dict[str, bytes] = {}
    for chunk in text.split(f"\n{_PART}")[1:]:
        head, _, body = chunk.partition("\n")
        words = head.split()
        if not words:
            refuse(path, "a part without a name")
        data = body.split(f"\n{_PART}")[0].split(f"\n{_END}")[0].encode()
        if words[-1] == "BASE64":
            try:
                data = base64.b64decode(data)
            except binascii.Error:
                continue
        found[words[0].lstrip("/")] = data
    return found


def _of_parts(path: Path, parts: Mapping[str, bytes]) -> ModelFile:
    main = next((n for n in parts if n.lower() == "simulink/blockdiagram.xml"), None)
    if main is None:
        refuse(path, "it is no model of Simulink", None, "it has no simulink/blockdiagram.xml")
    reader = _Xml(path, parts)
    top = reader.read(main)
    root = top.first("Model") or top.first("Library") or top
    for name in parts:
        if re.fullmatch(r"simulink/(configSet\w*|bddefaults)\.xml", name, re.IGNORECASE):
            root.parts.append(reader.read(name))
    return _model(path, root, root.first("System"), root)


class _Xml:
    """Reads the XML of a package into sections, with the systems that it refers to."""

    def __init__(self, path: Path, parts: Mapping[str, bytes]) -> None:
        self.path, self.parts = path, parts
        self.count = 0
        self.open: list[str] = []

    def read(self, name: str) -> Section:
        if name in self.open:
            refuse(self.path, f"{brief(name)} contains itself")
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False,
            remove_comments=True, remove_pis=True,
        )  # fmt: skip
        try:
            root = etree.fromstring(self.parts[name], parser)
        except (etree.XMLSyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None)
            refuse(self.path, f"{name}:{line}: it is not well-formed XML: {brief(str(error))}")
        if b"<!DOCTYPE" in self.parts[name]:
            refuse(self.path, f"{name} has a DOCTYPE; models need none")
        self.open.append(name)
        found = self._section(root, 0)
        self.open.pop()
        return found

    def _section(self, node: etree._Element, depth: int) -> Section:
        self.count += 1
        if depth > DEEPEST or self.count > MOST_SECTIONS:
            refuse(self.path, "it has too many sections, or nests them too deeply")
        if node.tag == "System" and node.get("Ref"):
            return self._referred(str(node.get("Ref")))
        made = Section(str(node.tag))
        made.values.update({str(k): str(v) for k, v in node.attrib.items()})
        for child in node:
            if child.tag == "P":
                made.values[str(child.get("Name"))] = "".join(map(str, child.itertext()))
            elif isinstance(child.tag, str):
                made.parts.append(self._section(child, depth + 1))
                if child.tag == "Cell":
                    made.parts[-1].values[""] = child.text or ""
                elif not len(child) and child.text and not child.attrib:
                    made.values.setdefault(child.tag, child.text)
        return made

    def _referred(self, ref: str) -> Section:
        name = f"simulink/systems/{ref}.xml"
        if name not in self.parts:
            refuse(self.path, f"its part {brief(name)} is missing")
        return self.read(name)


# --- the model ------------------------------------------------------------------------------------

_CODE = ("PreLoadFcn", "PostLoadFcn", "InitFcn")
_SETTINGS = ("StopTime", "StartTime", "Solver", "SolverName", "FixedStep", "RelTol", "AbsTol")


def _model(path: Path, root: Section, system: Section | None, top: Section) -> ModelFile:
    if system is None:
        refuse(path, "it has no section System", root.line)
    defaults = {
        block.values.get("BlockType", ""): block.values
        for holder in _found(top, "BlockParameterDefaults")
        for block in holder.all("Block")
    }
    settings: dict[str, str] = {}
    for section in _walked(top, skip="System"):
        for key in _SETTINGS:
            if section.values.get(key):
                settings.setdefault(key, section.values[key])
    code = {key: root.values[key] for key in _CODE if root.values.get(key)}
    return ModelFile(path, root, system, defaults, settings, code)


def _walked(section: Section, skip: str) -> Iterator[Section]:
    yield section
    for part in section.parts:
        if part.kind != skip:
            yield from _walked(part, skip)


def _found(top: Section, kind: str) -> Iterator[Section]:
    return (one for one in _walked(top, skip="System") if one.kind == kind)
