"""modelDescription.xml of FMI 3.0 and 2.0, and FMI 3.0's buildDescription.xml."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

from spart_blocks import __version__
from spart_blocks.base.errors import readable
from spart_blocks.export.fmu.model import Version, dependencies
from spart_blocks.export.fmu.stepping import Stepping
from spart_blocks.export.fmu.variables import Variable, row_of, variables_of
from spart_blocks.export.interface import identifier
from spart_blocks.export.schedule import slides
from spart_blocks.program.subdiagram import Subdiagram

TOOL = f"spart_blocks {__version__}"

# Exponents of the base units in a unit.
_BASE: Mapping[str, Mapping[str, int]] = {
    **{name: {name: 1} for name in ("kg", "m", "s", "A", "K", "mol", "cd", "rad")},
    "N": {"kg": 1, "m": 1, "s": -2},
    "J": {"kg": 1, "m": 2, "s": -2},
    "W": {"kg": 1, "m": 2, "s": -3},
    "Hz": {"s": -1},
}


def model_identifier(part: Subdiagram) -> str:
    """The name of the FMU's binary."""
    return identifier(part.program.name)


def model_description(part: Subdiagram, version: Version, stepping: Stepping, token: str) -> bytes:
    """The text of modelDescription.xml. token: FMI 3's instantiation token, FMI 2's guid."""
    named = variables_of(part)
    variables = [v for variable in named for v in variable.scalars()] if version == 2 else named
    root = ET.Element("fmiModelDescription", _root(part, version, token))
    for name, attributes in _interfaces(part, version, stepping):
        interface = ET.SubElement(root, name, attributes)
        if version == 2:
            files = ET.SubElement(interface, "SourceFiles")
            ET.SubElement(files, "File", {"name": "sb_fmu2.c"})
    _units(root, variables)
    categories = ET.SubElement(root, "LogCategories")
    for name, text in _CATEGORIES.items():
        ET.SubElement(categories, "Category", {"name": name, "description": text})
    ET.SubElement(root, "DefaultExperiment", _experiment(part))
    listed = ET.SubElement(root, "ModelVariables")
    places = {variable.reference: k for k, variable in enumerate(variables, start=1)}
    for variable in variables:
        if version == 3:
            _variable_3(listed, variable)
        else:
            _variable_2(listed, variable, places)
    structure = ET.SubElement(root, "ModelStructure")
    _Structure(part, variables, version).write(structure)
    return _bytes(root)


def build_description(part: Subdiagram) -> bytes:
    """The text of sources/buildDescription.xml of FMI 3.0."""
    root = ET.Element("fmiBuildDescription", {"fmiVersion": "3.0"})
    build = ET.SubElement(root, "BuildConfiguration", {"modelIdentifier": model_identifier(part)})
    files = ET.SubElement(build, "SourceFileSet", {"language": "C99"})
    ET.SubElement(files, "SourceFile", {"name": "sb_fmu3.c"})
    return _bytes(root)


_CATEGORIES = {
    "logStatusError": "calls that fail, and the reason",
    "logEvents": "the reason why a run was stopped",
}


def _bytes(root: ET.Element) -> bytes:
    ET.indent(root)
    text = ET.tostring(root, "unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.encode()


def _text(text: str) -> str:
    """The text in one line, without characters that XML cannot contain."""
    return " ".join(readable(text).split())


# --- the head ----------------------------------------------------------------------------


def _root(part: Subdiagram, version: Version, token: str) -> dict[str, str]:
    attributes = {
        "fmiVersion": f"{version}.0",
        "modelName": _text(part.program.name),
        "instantiationToken" if version == 3 else "guid": token,
        "generationTool": TOOL,
        "variableNamingConvention": "structured",
    }
    if version == 2:
        attributes["numberOfEventIndicators"] = str(len(part.program.crossings))
    return attributes


def _interfaces(
    part: Subdiagram, version: Version, stepping: Stepping
) -> Iterable[tuple[str, dict[str, str]]]:
    plural = "s" if version == 3 else ""
    state = "canGetAndSetFMUState" if version == 3 else "canGetAndSetFMUstate"
    common = {
        "modelIdentifier": model_identifier(part),
        state: "true",
        state.replace("GetAndSet", "Serialize"): "true",
    }
    if not slides(part.program):  # rates along surfaces are finite differences of the model's rates
        common[f"providesDirectionalDerivative{plural}"] = "true"
    if version == 3 and not slides(part.program):
        common["providesAdjointDerivatives"] = "true"
    if version == 3:
        exchange = {"needsCompletedIntegratorStep": "true"}
        fixed = {} if stepping.controlled else {"fixedInternalStepSize": repr(stepping.step)}
    else:
        common["canNotUseMemoryManagementFunctions"] = "true"
        exchange = fixed = {}
    yield "ModelExchange", common | exchange
    yield "CoSimulation", common | {"canHandleVariableCommunicationStepSize": "true"} | fixed


def _experiment(part: Subdiagram) -> dict[str, str]:
    run = part.program.run
    step = run.every or run.T / 500
    return {
        "startTime": "0",
        "stopTime": repr(float(run.T)),
        "tolerance": repr(float(run.rtol)),
        "stepSize": repr(float(step)),
    }


def _units(root: ET.Element, variables: Sequence[Variable]) -> None:
    names = dict.fromkeys(v.unit for v in variables if v.unit)
    if not names:
        return
    definitions = ET.SubElement(root, "UnitDefinitions")
    for name in names:
        unit = ET.SubElement(definitions, "Unit", {"name": _text(name)})
        base = base_units(name)
        if base is not None:
            ET.SubElement(unit, "BaseUnit", {k: str(v) for k, v in base.items() if v})


def base_units(unit: str) -> dict[str, int] | None:
    """The exponents of SI base units in a unit such as 'kg m^2/s'; None if one of its names is
    unknown."""
    exponents: dict[str, int] = {}
    for k, side in enumerate(unit.split("/")):
        for factor in side.split():
            found = re.fullmatch(r"([A-Za-z]+)(?:\^(-?\d+))?", factor)
            if found is None or found[1] not in _BASE:
                return None
            power = int(found[2] or 1) * (-1 if k else 1)
            for base, exponent in _BASE[found[1]].items():
                exponents[base] = exponents.get(base, 0) + power * exponent
    return exponents


# --- variables ---------------------------------------------------------------------------


def _number(value: float) -> str:
    return repr(float(value)) if math.isfinite(value) else "INF" if value > 0 else "-INF"


def _common(variable: Variable) -> dict[str, str]:
    attributes = {"name": variable.name, "valueReference": str(variable.reference)}
    title = variable.title if variable.title != variable.name else ""
    if title or variable.doc:
        attributes["description"] = _text(": ".join(filter(None, (title, variable.doc))))
    attributes |= {"causality": variable.causality, "variability": variable.variability}
    return attributes


def _values(variable: Variable) -> dict[str, str]:
    """Unit, bounds and start."""
    attributes = {}
    if variable.unit:
        attributes["unit"] = _text(variable.unit)
    for name, bound in zip(("min", "max"), variable.bounds or (), strict=False):
        if math.isfinite(bound):
            attributes[name] = _number(bound)
    if variable.start is not None:
        attributes["start"] = " ".join(_number(value) for value in variable.start)
    return attributes


def _variable_3(listed: ET.Element, variable: Variable) -> None:
    attributes = _common(variable) | _values(variable)
    # FMI 3 has no such attribute for inputs, which are always exact.
    if variable.initial and variable.causality != "input":
        attributes["initial"] = variable.initial
    if variable.derivative is not None:
        attributes["derivative"] = str(variable.derivative)
    element = ET.SubElement(listed, "Float64", attributes)
    for size in variable.shape:
        ET.SubElement(element, "Dimension", {"start": str(size)})


def _variable_2(listed: ET.Element, variable: Variable, places: Mapping[int, int]) -> None:
    attributes = _common(variable)
    if variable.initial and variable.causality != "input":
        attributes["initial"] = variable.initial
    element = ET.SubElement(listed, "ScalarVariable", attributes)
    real = _values(variable)
    if variable.derivative is not None:
        real["derivative"] = str(places[variable.derivative])
    ET.SubElement(element, "Real", real)


# --- structure ---------------------------------------------------------------------------


class _Structure:
    """The unknowns, and the knowns on which they depend."""

    def __init__(self, part: Subdiagram, variables: Sequence[Variable], version: Version) -> None:
        self.part, self.version, self.row = part, version, row_of(part)
        self.variables = variables
        self.number = {
            v.reference: v.reference if version == 3 else k
            for k, v in enumerate(variables, start=1)
        }
        self.depends = dependencies(part)
        fixed = set(part.program.start.values())
        self.start = {
            row + k: 1 + slot.start + k
            for name, slot in ((s.name, s) for s in part.parameters if s.name in fixed)
            for row in self._states_from(name)
            for k in range(math.prod(slot.shape))
        }

    def _states_from(self, parameter: str) -> Iterable[int]:
        """The first references of the states whose start value is this parameter."""
        program = self.part.program
        for first, slots in ((self.row.x, program.states), (self.row.xd, program.discrete)):
            yield from (first + s.start for s in slots if program.start.get(s.name) == parameter)

    def write(self, structure: ET.Element) -> None:
        outputs = [v for v in self.variables if v.causality == "output"]
        rates = [v for v in self.variables if v.derivative is not None]
        states = [v for v in self.variables if self.row.x <= v.reference < self.row.rates]
        crossings = [v for v in self.variables if v.reference >= self.row.crossings]
        initial = sorted([*outputs, *rates, *states], key=lambda v: self.number[v.reference])
        if self.version == 3:
            self._flat(structure, "Output", outputs)
            self._flat(structure, "ContinuousStateDerivative", rates)
            for variable in initial:
                self._unknown(structure, "InitialUnknown", variable, self._initial(variable))
            self._flat(structure, "EventIndicator", crossings)
            return
        for name, unknowns in (("Outputs", outputs), ("Derivatives", rates)):
            if unknowns:
                self._flat(ET.SubElement(structure, name), "Unknown", unknowns)
        if initial:
            inner = ET.SubElement(structure, "InitialUnknowns")
            for variable in initial:
                self._unknown(inner, "Unknown", variable, self._initial(variable))

    def _flat(self, parent: ET.Element, name: str, unknowns: Sequence[Variable]) -> None:
        for variable in unknowns:
            self._unknown(parent, name, variable, self._running(variable))

    def _unknown(
        self, parent: ET.Element, name: str, variable: Variable, knowns: Sequence[Variable] | None
    ) -> None:
        key = "valueReference" if self.version == 3 else "index"
        attributes = {key: str(self.number[variable.reference])}
        if knowns is not None:
            numbers = sorted(self.number[known.reference] for known in knowns)
            attributes["dependencies"] = " ".join(map(str, numbers))
        ET.SubElement(parent, name, attributes)

    def _reads(self, variable: Variable) -> dict[str, Any]:
        """The entries of t, x, xd and p that a rate, output or crossing reads."""
        row, reference = self.row, variable.reference
        nx = row.xd - row.rates
        first = reference - row.rates if reference < row.xd else reference - row.outputs + nx
        rows = slice(first, first + variable.size)
        return {name: np.flatnonzero(m[rows].any(axis=0)) for name, m in self.depends.items()}

    def _with(self, places: Iterable[int], *causes: str) -> list[Variable]:
        """The variables with these causalities that contain one of these references."""
        wanted = set(places)
        return [
            v
            for v in self.variables
            if v.causality in causes
            and not wanted.isdisjoint(range(v.reference, v.reference + v.size))
        ]

    def _running(self, variable: Variable) -> list[Variable] | None:
        """The inputs, continuous states and time on which it depends. None means all of them: a
        motion along surfaces may combine them."""
        if slides(self.part.program) and variable.causality != "output":
            return None
        reads = self._reads(variable)
        places = [0] * len(reads["t"])
        places += [self.row.x + int(k) for k in reads["x"]]
        places += [self.row.p + int(k) for k in reads["p"]]
        return self._with(places, "independent", "input", "local")

    def _initial(self, variable: Variable) -> list[Variable] | None:
        """The parameters, inputs and time on which it depends at the start. None means all of them:
        clocks tick there."""
        if self.row.x <= variable.reference < self.row.rates:
            own = range(variable.reference, variable.reference + variable.size)
            return self._with([self.start[k] for k in own], "parameter")
        if self.part.program.clocks:
            return None
        reads = self._reads(variable)
        places = [0] * len(reads["t"])
        places += [self.start[self.row.x + int(k)] for k in reads["x"]]
        places += [self.row.p + int(k) for k in reads["p"]]
        return self._with(places, "independent", "input", "parameter")
