"""A subdiagram as an FMU (Functional Mock-up Unit) of FMI 3.0 or 2.0.

One file contains both interfaces, model exchange and co-simulation, with source code and, if a
compiler is found, a binary for this platform. The C code is our own. CasADi 3.8's DaeBuilder
writes FMUs for model exchange only. For a pendulum, FMPy's validation rejects its names
(__assign__der(q)__) and reports a missing initial unknown, and ten parameters of its C functions
are unused, which -Wextra -Werror rejects.
"""

from __future__ import annotations

import hashlib
import platform
import sys
import uuid
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, Literal

import numpy as np

from spart_blocks.base.errors import Fault, InputError, warn
from spart_blocks.export.fmu.description import (
    build_description,
    model_description,
    model_identifier,
)
from spart_blocks.export.fmu.model import Version, model_header
from spart_blocks.export.fmu.stepping import Stepping, stepping_of
from spart_blocks.export.schedule import slides
from spart_blocks.program import Slot
from spart_blocks.program.c.compiler import LEVEL, CompilerError, NoCompilerError, strict_library
from spart_blocks.program.c.text import header, step_headers, with_headers
from spart_blocks.program.subdiagram import Subdiagram
from spart_blocks.results.files import write_atomically
from spart_blocks.run.engines.engine import Floats

# --- Start values of inputs -----------------------------------------------------------------------


Inputs = Literal["zero", "diagram"]
CHOICES = ("zero", "diagram")


def started(part: Subdiagram, inputs: str = "zero") -> Subdiagram:
    """The subdiagram with the start values of its inputs in its program's p.

    inputs: 'diagram' for the values of the signals at the start of the diagram; 'zero' for zeros,
    and the identity for rotation matrices. If the subdiagram is not finite with zeros (as with a
    quaternion of zeros), the inputs concerned keep the diagram's values. Raises InputError for
    another choice.
    """
    if inputs not in CHOICES:
        hint = f"there are {', '.join(CHOICES)}"
        raise InputError(Fault(f"no start values {inputs!r} of inputs", hint=hint))
    if inputs == "diagram" or not part.inputs:
        return part
    p = part.program.p.copy()
    for slot in part.inputs:
        p[slot.part] = _resting(slot, p)
    if not _finite(part, p):
        p = part.program.p.copy()
        for slot in part.inputs:
            trial = p.copy()
            trial[slot.part] = _resting(slot, part.program.p)
            p = trial if _finite(part, trial) else p
    return replace(part, program=replace(part.program, p=p))


def _resting(slot: Slot, p: Floats) -> Floats:
    """The neutral value of a signal: zeros, or the identity for a rotation matrix."""
    value = p[slot.part].reshape(slot.shape)
    if slot.shape == (3, 3) and np.allclose(value @ value.T, np.eye(3), atol=1e-9):
        return np.eye(3).ravel()
    return np.zeros(value.size)


def _finite(part: Subdiagram, p: Floats) -> bool:
    """Whether all results of the subdiagram at its start are finite."""
    program = part.program
    functions = [program.rates, program.outputs, program.watched, *program.updates.values()]
    values = (function(0.0, program.x0, program.xd0, p) for function in functions)
    return all(bool(np.isfinite(np.array(value, dtype=float)).all()) for value in values)


_NO_TIME = (1980, 1, 1, 0, 0, 0)
"""Date of all entries, so that the same subdiagram gives the same file."""
_SHARED = ("types", "events", "step", "values", "saved")
_FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-fvisibility=hidden")
_SYSTEMS = {"linux": "linux", "darwin": "darwin", "win32": "windows"}


def export_fmu(
    part: Subdiagram,
    path: str | Path,
    version: int = 3,
    *,
    rate: float | None = None,
    method: str | None = None,
    inputs: str = "zero",
) -> Path:
    """Write a subdiagram as an FMU. Returns its path.

    path: a file NAME.fmu, or a folder for one with the subdiagram's name. version: of FMI, 3 or 2.
    rate, method: for co-simulation in equal steps, the rate of the steps [Hz], 1000 by default, and
    a name of FIXED_STEP, by default the recommended one. Without both, co-simulation uses error
    control with the importer's tolerance or the diagram's. In model exchange the importer
    integrates.
    inputs: start values of the inputs, 'zero' or as at the start of the 'diagram'.
    Without a C compiler the FMU contains only sources, and a SpartWarning is issued. Raises
    InputError for invalid options or an invalid path, DiagramError naming a block that an FMU
    cannot contain.
    """
    if version not in (2, 3):
        raise InputError(f"FMI {version} is not supported; the version is 3 or 2")
    target = _target(part, Path(path))
    stepping = stepping_of(part, rate, method)
    for name in part.program.damped:
        warn(
            f"{name} has singular: damp: import the FMU for co-simulation, because in model "
            "exchange the importer's solver may gain or lose energy where its loops lose rank"
        )
    contents = fmu_files(started(part, inputs), 3 if version == 3 else 2, stepping)
    write_atomically(target, lambda file: _pack(contents, file))
    return target


def _target(part: Subdiagram, path: Path) -> Path:
    path = path.expanduser()
    if path.is_dir():
        return path / f"{model_identifier(part)}.fmu"
    if path.suffix.lower() != ".fmu":
        hint = "give a file NAME.fmu, or an existing folder"
        raise InputError(Fault(f"cannot write an FMU to {path}", hint=hint))
    return path


def fmu_files(part: Subdiagram, version: Version, stepping: Stepping) -> dict[str, bytes]:
    """The files of an FMU, by their paths in it."""
    model = model_header(part, version, stepping)
    sources = _sources(version, slides(part.program)) | {"sb_fmu_model.h": model}
    token = _token([*sources.values(), model_description(part, version, stepping, "").decode()])
    sources["sb_fmu_model.h"] = f'#define SB_TOKEN "{token}"\n\n{model}'
    found = {"modelDescription.xml": model_description(part, version, stepping, token)}
    found |= {f"sources/{name}": text.encode() for name, text in sorted(sources.items())}
    if version == 3:
        found["sources/buildDescription.xml"] = build_description(part)
    binary = _binary(sources, version)
    if binary is not None:
        place, suffix = _platform(version)
        found[f"binaries/{place}/{model_identifier(part)}{suffix}"] = binary
    return found


def _sources(version: Version, slide: bool) -> dict[str, str]:
    """The C files that are the same in every FMU, by name. slide: include those for sliding."""
    names = ["sb_fmu.h", f"sb_fmi{version}.h", f"sb_fmu{version}.c"]
    names += [f"sb_fmu_{part}.h" for part in _SHARED]
    if version == 3:
        names.append("sb_fmu_adjoint.h")
    if slide:
        names.append("sb_fmu_slide.h")
    found = {name: header(f"export/c/{name}") for name in names}
    return {**found, **step_headers(slide)}


def _token(texts: list[str]) -> str:
    """A GUID of the content, different for each subdiagram, version and rate."""
    digest = hashlib.sha256("\0".join(texts).encode()).digest()
    return f"{{{uuid.UUID(bytes=digest[:16])}}}"


# --- the binary --------------------------------------------------------------------------


def whole_source(sources: Mapping[str, str], version: Version) -> str:
    """All C code of an FMU in one text."""
    return with_headers(sources[f"sb_fmu{version}.c"], sources)


def _binary(sources: Mapping[str, str], version: Version) -> bytes | None:
    source = whole_source(sources, version)
    try:
        return strict_library(source, (*_FLAGS, *LEVEL)).read_bytes()
    except (CompilerError, NoCompilerError) as error:
        text = f"the FMU contains only sources, no binary for this platform: {error}"
        warn(text)
        return None


def _platform(version: Version) -> tuple[str, str]:
    """The folder and the suffix of binaries for this platform."""
    system = _SYSTEMS.get(sys.platform, sys.platform)
    suffix = {"windows": ".dll", "darwin": ".dylib"}.get(system, ".so")
    machine = platform.machine().lower()
    if version == 3:
        kind = {"amd64": "x86_64", "arm64": "aarch64", "i686": "x86"}.get(machine, machine)
        return f"{kind}-{system}", suffix
    bits = 64 if sys.maxsize > 2**32 else 32
    return f"{'win' if system == 'windows' else system}{bits}", suffix


# --- the file ----------------------------------------------------------------------------


def _pack(contents: Mapping[str, bytes], file: IO[bytes]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            entry = zipfile.ZipInfo(name, _NO_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, on every platform
            entry.external_attr = (0o755 if name.startswith("binaries/") else 0o644) << 16
            archive.writestr(entry, data)
