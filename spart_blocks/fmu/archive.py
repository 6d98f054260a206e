"""Reading an untrusted FMU: a zip file with a description and a library of machine code.

Nothing here runs any of that code. The description is read, checked and kept; the files
that a run needs are unpacked into a folder, within limits.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import stat
import zipfile
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from math import prod
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

from spart_blocks.base.errors import (
    Fault,
    InputError,
    Place,
    brief,
    optional,
    warn,
)
from spart_blocks.results.archives import opened

MOST_BYTES = 512 * 2**20
"""Limits of the file and of its unpacked contents."""
MOST_FILES = 20_000
LONGEST_NAME = 255
"""Largest length of a file name [bytes], as in file systems."""
MOST_DESCRIPTION = 32 * 2**20  # bytes; descriptions of large models have several megabytes
MOST_ENTRIES = 100_000
"""Largest number of elements of a variable."""

DESCRIPTION = "modelDescription.xml"
_FLOATS = ("Real", "Float64", "Float32")
INTEGERS = ("Integer", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")
NUMBERS = (*_FLOATS, *INTEGERS, "Enumeration", "Boolean")
"""The numeric types of variables."""


@dataclass(frozen=True)
class FmuVariable:
    """A variable of an FMU. kind: the type in the names of FMPy's functions. shape: () for a
    scalar. of: the variable's type in the description.
    """

    name: str
    reference: int
    kind: str
    of: str
    shape: tuple[int, ...]
    causality: str
    variability: str
    initial: str
    unit: str

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def flows(self) -> bool:
        """Whether it is continuous: it may change at any time, not at events only."""
        continuous = self.variability in ("", "continuous")
        return continuous and self.of in _FLOATS and self.causality != "parameter"

    @property
    def told(self) -> str:
        """A description in words."""
        words = ("a", self.variability, self.causality, "of type", self.of)
        return " ".join(word for word in words if word)


@dataclass(frozen=True)
class ModelEquations:
    """The equations of an FMU for model exchange, from its description. nx, nz: numbers of
    continuous states and event indicators. told_of_steps: whether it needs completedIntegratorStep.
    known: the variables on which a variable depends directly; variables not in it may depend on
    all.
    """

    nx: int
    nz: int
    told_of_steps: bool
    known: Mapping[str, frozenset[str]]

    def direct(self, outputs: Iterable[str], inputs: Collection[str]) -> bool:
        """Whether there may be direct feedthrough from some of these inputs to some of these
        outputs.
        """
        taken = frozenset(inputs)
        return any(taken & self.known.get(name, taken) for name in outputs)


@dataclass(frozen=True)
class Model:
    """The description of an FMU. digest: of the file that was read. major: 2 or 3. token: the GUID
    or instantiation token. once: whether a process can have only one instance. equations: set if it
    is read for model exchange.
    """

    path: Path
    digest: str
    major: int
    identifier: str
    token: str
    name: str
    once: bool
    variables: Mapping[str, FmuVariable]
    equations: ModelEquations | None = None

    @property
    def folder(self) -> str:
        """The folder of the library for this machine, within the file."""
        import fmpy

        return f"binaries/{fmpy.platform if self.major == 2 else fmpy.platform_tuple}/"

    @property
    def library(self) -> str:
        import fmpy

        return f"{self.folder}{self.identifier}{fmpy.sharedLibraryExtension}"


def read_model(path: Path, exchange: bool = False) -> Model:
    """Read the model of an FMU file without running any of its code. Raises InputError, and
    MissingExtraError without FMPy. exchange: read it for model exchange instead of co-simulation.
    """
    optional("fmpy", "fmpy", "fmu", "an FMU block")
    with _opened(path) as archive:
        _check_names(archive, path)
        description = _description(archive, path)
        model = _model(description, path, exchange)
        _check_library(model, set(archive.namelist()))
    return model


def unpack(model: Model, folder: Path) -> None:
    """Unpack the files that a run needs into a folder: this machine's library and the resources.
    Raises InputError, also if the file has changed since it was read.
    """
    with _opened(model.path) as archive:
        if _digest(model.path) != model.digest:
            _refuse(model.path, "has changed since it was read", "load the diagram again")
        _check_names(archive, model.path)
        left = MOST_BYTES
        for item in archive.infolist():
            if item.is_dir() or not item.filename.startswith((model.folder, "resources/")):
                continue
            left = _write(archive, item, folder / item.filename, left, model.path)
    (folder / "resources").mkdir(exist_ok=True)  # FMI allows an FMU to read it


def _refuse(path: Path, message: str, hint: str | None = None) -> NoReturn:
    raise InputError(Fault(f"{path.name} {message}", Place(str(path)), hint))


# --- the zip file --------------------------------------------------------------------------


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            _refuse(
                path, "is not a file", "give the .fmu itself, not a folder that it was unpacked to"
            )
        if status.st_size > MOST_BYTES:
            _refuse(path, f"has more than {MOST_BYTES // 2**20} MB")
        return opened(path)
    except InputError as error:
        if error.faults[0].place is not None:
            raise
        _refuse(path, str(error))
    except FileNotFoundError:
        _refuse(path, "does not exist", f"looked for {path.absolute()}")
    except (OSError, ValueError) as error:
        _refuse(path, f"cannot be opened: {getattr(error, 'strerror', None) or error}")
    except (zipfile.BadZipFile, NotImplementedError) as error:
        _refuse(path, f"is not an FMU: {error}", "an FMU is a zip file with a modelDescription.xml")


def _check_names(archive: zipfile.ZipFile, path: Path) -> None:
    """Reject names that lead out of the folder or clash, and contents that would fill the disk."""
    items = archive.infolist()
    if len(items) > MOST_FILES:
        _refuse(path, f"holds more than {MOST_FILES} files")
    if sum(item.file_size for item in items) > MOST_BYTES:
        _refuse(path, f"would unpack to more than {MOST_BYTES // 2**20} MB")
    for item in items:
        name = item.filename
        parts = PurePosixPath(name).parts
        if not name or name.startswith("/") or ".." in parts or re.search(r"[\\:\0]", name):
            _refuse(path, f"holds a file whose name leads elsewhere: {brief(name)}")
        if name.removesuffix("/") != "/".join(parts) or _is_odd(name):
            _refuse(path, f"holds a file whose name no file can have: {brief(name)}")
        if stat.S_ISLNK(item.external_attr >> 16):
            _refuse(path, f"holds a link: {brief(name)}")

    _check_clashes([item.filename for item in items], path)


def _is_odd(name: str) -> bool:
    """Whether a file system may reject a name: lone surrogates, or a component that is too long."""
    raw = name.encode("utf-8", "surrogatepass")
    return raw.decode("utf-8", "replace") != name or max(map(len, raw.split(b"/"))) > LONGEST_NAME


def _check_clashes(names: Sequence[str], path: Path) -> None:
    """Reject a name that occurs twice, and a name of both a file and a folder."""
    files = {name for name in names if not name.endswith("/")}
    folders = {name.removesuffix("/") for name in names if name.endswith("/")}
    folders |= {str(folder) for name in names for folder in PurePosixPath(name).parents}
    twice = files & folders
    if len(set(names)) < len(names):
        twice |= {name for name, count in Counter(names).items() if count > 1}
    if twice:
        _refuse(path, f"holds two things of one name: {brief(min(twice))}")


def _write(
    archive: zipfile.ZipFile, item: zipfile.ZipInfo, target: Path, left: int, path: Path
) -> int:
    """Unpack one file; returns the number of bytes that may follow."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(item) as source, target.open("xb") as out:
            shutil.copyfileobj(source, out)
            left -= out.tell()
    except (OSError, ValueError, RuntimeError, zipfile.BadZipFile, EOFError) as error:
        _refuse(path, f"cannot be unpacked: {brief(item.filename)}: {error}")
    except Exception as error:  # raised for damaged streams of zip's compression methods
        _refuse(path, f"is damaged: {brief(item.filename)}: {error}")
    if left < 0:
        _refuse(path, f"unpacks to more than {MOST_BYTES // 2**20} MB")
    return left


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# --- the description -----------------------------------------------------------------------


def _description(archive: zipfile.ZipFile, path: Path) -> Any:
    """The description as read by FMPy, from a text without entity declarations."""
    text = _text(archive, path)
    version = _version(text, path)
    try:
        return _read(text, validate=True)
    except Exception as error:
        lines = [line.strip(" -") for line in str(error).splitlines() if line.strip()]
        told = lines[1] if len(lines) > 1 else (lines or [type(error).__name__])[0]
        problem = f"has a {DESCRIPTION} that is not FMI {version}: {told}"
    try:
        found = _read(text, validate=False)
    except Exception:
        _refuse(path, problem)
    # Many tools write descriptions that violate the standard, but work.
    warn(f"{path.name} {problem}")
    return found


def _read(text: bytes, validate: bool) -> Any:
    from fmpy.model_description import read_model_description

    alone = BytesIO()
    with zipfile.ZipFile(alone, "w") as only:
        only.writestr(DESCRIPTION, text)
    alone.seek(0)
    return read_model_description(alone, validate=validate)


def _text(archive: zipfile.ZipFile, path: Path) -> bytes:
    try:
        item = archive.getinfo(DESCRIPTION)
    except KeyError:
        _refuse(path, f"is not an FMU: it has no {DESCRIPTION}")
    if item.file_size > MOST_DESCRIPTION:
        _refuse(path, f"has a {DESCRIPTION} of more than {MOST_DESCRIPTION // 2**20} MB")
    try:
        return archive.read(item)
    except Exception as error:  # raised for damaged streams of zip's compression methods
        _refuse(path, f"is damaged: {DESCRIPTION}: {error}")


def _version(text: bytes, path: Path) -> str:
    """The version of FMI, 2.0 or 3.x; rejects texts that FMPy's own parser must not read."""
    from lxml import etree

    # Before any parser runs, because it expands entities in attributes. With zero bytes removed,
    # UTF-16 and UTF-32 texts show their ASCII characters.
    if b"<!DOCTYPE" in text.replace(b"\0", b""):
        _refuse(path, f"has a {DESCRIPTION} with a DOCTYPE, in which entities could hide")
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    try:
        root = etree.fromstring(text, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        _refuse(path, f"has a {DESCRIPTION} that is not XML: {error}")
    if root.getroottree().docinfo.internalDTD is not None:
        _refuse(path, f"has a {DESCRIPTION} with a DOCTYPE")
    version = root.get("fmiVersion") or ""
    if not re.fullmatch(r"2\.0|3\.\d{1,3}(\.\d{1,3})?", version):
        told = f"is of FMI {version[:20]}" if version else "names no version of FMI"
        _refuse(path, told, "the block imports FMI 2.0 and 3.0: export it again as one of these")
    return version


def _model(description: Any, path: Path, exchange: bool) -> Model:
    offered = description.modelExchange if exchange else description.coSimulation
    if offered is None:
        _refuse_interface(path, exchange)
    identifier = offered.modelIdentifier or ""
    if not re.fullmatch(r"[A-Za-z_]\w*", identifier, re.ASCII):
        _refuse(path, f"has the model identifier {brief(identifier)}, which is not a C identifier")
    try:
        variables = [
            _variable(v, description.fmiMajorVersion, path) for v in description.modelVariables
        ]
    except (TypeError, ValueError) as error:  # for an invalid description
        _refuse(path, f"has a {DESCRIPTION} with a variable that cannot be read: {error}")
    return Model(
        path=path,
        digest=_digest(path),
        major=description.fmiMajorVersion,
        identifier=identifier,
        token=description.guid or "",
        name=description.modelName or identifier,
        once=bool(offered.canBeInstantiatedOnlyOncePerProcess),
        variables={variable.name: variable for variable in variables},
        equations=_equations(description, path) if exchange else None,
    )


def _refuse_interface(path: Path, exchange: bool) -> NoReturn:
    if exchange:
        hint = "the block FMU, with a clock, lets it bring its own solver"
        _refuse(path, "is not for model exchange", hint)
    hint = "the block FMU_ME, which needs no clock, solves one for model exchange"
    _refuse(path, "is not for co-simulation", hint)


def _equations(description: Any, path: Path) -> ModelEquations:
    nx, nz = description.numberOfContinuousStates, description.numberOfEventIndicators
    if not (0 <= nx <= MOST_ENTRIES and 0 <= nz <= MOST_ENTRIES):
        _refuse(path, f"has {nx} states and {nz} event indicators, the most is {MOST_ENTRIES:,}")
    known: dict[str, frozenset[str]] = {}
    for v in description.modelVariables:
        # The others change at events only, and so not by a wire between events.
        if v.causality == "independent" or v.variability not in ("continuous", None, ""):
            known[v.name] = frozenset()
    for unknown in (*description.outputs, *description.derivatives):
        if unknown.dependencies is not None:  # no list means all
            known[unknown.variable.name] = frozenset(v.name for v in unknown.dependencies)
    for unknown in description.derivatives:
        state = unknown.variable.derivative
        if state is not None:
            known[state.name] = frozenset()
    told = bool(description.modelExchange.needsCompletedIntegratorStep)
    return ModelEquations(nx, nz, told, known)


def _variable(given: Any, major: int, path: Path) -> FmuVariable:
    kind = given.type
    if kind == "Enumeration":
        kind = "Integer" if major == 2 else "Int64"
    shape = tuple(given.shape or ())
    if any(n < 0 for n in shape) or prod(shape) > MOST_ENTRIES:
        _refuse(path, f"has a variable of shape {shape}: {brief(given.name)}")
    declared = given.declaredType
    return FmuVariable(
        name=given.name,
        reference=int(given.valueReference),
        kind=kind,
        of=given.type,
        shape=shape,
        causality=given.causality or "local",
        variability=given.variability or "",
        initial=given.initial or "",
        unit=given.unit or (declared.unit if declared is not None else None) or "",
    )


def _check_library(model: Model, names: set[str]) -> None:
    if model.library in names:
        return
    import fmpy

    machine = fmpy.platform if model.major == 2 else fmpy.platform_tuple
    found = sorted({name.split("/")[1] for name in names if re.match(r"binaries/[^/]+/.", name)})
    has = f"it has that of {', '.join(found)}" if found else "it has none"
    hint = None
    if any(re.match(r"sources/.+\.(c|cpp)$", name) for name in names):
        hint = f"its sources are in it: `fmpy compile {model.path.name}` adds the library"
    _refuse(model.path, f"has no library for this machine ({machine}): {has}", hint)
