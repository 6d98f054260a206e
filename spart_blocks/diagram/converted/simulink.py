"""Models of Simulink as diagram files: structure, parameters, sample times, places of blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, Place, brief
from spart_blocks.diagram.converted.draft import (
    Draft,
    DraftBlock,
    Row,
    Sheet,
    State,
    plain_name,
)
from spart_blocks.diagram.converted.matlab import UnknownNameError, UnreadableError, value_of
from spart_blocks.diagram.converted.simulink_files import ModelFile, Section, read_model_file
from spart_blocks.diagram.converted.simulink_rules import RULES, Carried, NotCarriedError

MOST_BLOCKS = 20_000
DEEPEST = 16
MOST_PARAMETER = 50_000
"""Largest number of entries of a parameter that is written into a file."""
_SOLVERS = {"ode1": "euler", "ode2": "heun", "ode4": "RK4", "ode45": "RK45", "ode23": "RK23",
            "ode15s": "BDF", "ode113": "LSODA", "ode23s": "Radau"}  # fmt: skip
_FIXED = ("euler", "heun", "RK4")
_CONDITIONS = {"EnablePort": "enable", "TriggerPort": "trigger", "ActionPort": "ifaction",
               "ResetPort": "reset"}  # fmt: skip
_NO_BLOCKS = {"GotoTagVisibility", "Inport", "Outport", *_CONDITIONS}
_IDENTIFIER = re.compile(r"[A-Za-z]\w*(?:\.[A-Za-z]\w*)*")


@dataclass
class SimulinkBlock:
    """A block of a model. key: what lines name it by."""

    key: str
    title: str
    kind: str
    values: Mapping[str, str]
    section: Section
    inputs: int
    outputs: int


@dataclass
class System:
    """A level of a model. reached: the source of each input, (key, port) by (key, port). known: the
    variables that its parameters see. parent: where it stands."""

    blocks: dict[str, SimulinkBlock]
    reached: dict[tuple[str, str], tuple[str, str]]
    names: dict[tuple[str, str], str]
    known: Mapping[str, Any]
    parent: tuple[System, str] | None = None
    sources: dict[tuple[str, str], str] = field(default_factory=dict)
    wires: dict[str, tuple[str, str]] = field(default_factory=dict)


def from_simulink(path: Path, workspace: Mapping[str, Any]) -> Draft:
    """The diagram of a model. Raises InputError if the file cannot be read."""
    return _Conversion(read_model_file(path), workspace).draft


class _Conversion:
    """The conversion of one model."""

    def __init__(self, file: ModelFile, workspace: Mapping[str, Any]) -> None:
        self.file = file
        self.count = 0
        head = [f"Made of {file.path.name}, a model of Simulink. Search for NOT CONVERTED."]
        self.draft = Draft(plain_name(file.path.stem), head)
        self.draft.top.names |= {"ground"}
        self.used: dict[str, str] = {}  # parameters by the names of their variables
        self.top = self._system(file.system, workspace, None)
        self._fill(self.top, self.draft.top, "", 0)
        self._settings(workspace)

    def _settings(self, workspace: Mapping[str, Any]) -> None:
        told, run = self.file.settings, self.draft.run
        stop = _number(told.get("StopTime", "10"), workspace)
        run["T"] = stop if stop is not None and np.isfinite(stop) and stop > 0 else 10
        solver = _SOLVERS.get(told.get("Solver") or told.get("SolverName") or "")
        step = _number(told.get("FixedStep", "auto"), workspace)
        if solver is not None and (solver not in _FIXED or step):
            run["solver"] = solver
            if solver in _FIXED:
                run["max_step"] = step

    # --- the model's systems ----------------------------------------------------------------------

    def _system(
        self, section: Section, known: Mapping[str, Any], parent: tuple[System, str] | None
    ) -> System:
        blocks: dict[str, SimulinkBlock] = {}
        for one in [part for part in section.parts if part.kind in ("Block", "Reference")]:
            self.count += 1
            if self.count > MOST_BLOCKS:
                place = Place(str(self.file.path))
                raise InputError(Fault(f"it has more than {MOST_BLOCKS} blocks", place))
            block = self._block(one)
            blocks[block.key] = block
        by_name = {block.title: key for key, block in blocks.items()}
        made = System(blocks, {}, {}, known, parent)
        for line in section.all("Line"):
            self._line(line, made, by_name)
        for (key, port), (start, out) in made.reached.items():
            if port.isdigit() and key in blocks:
                blocks[key].inputs = max(blocks[key].inputs, int(port))
            if out.isdigit() and start in blocks:
                blocks[start].outputs = max(blocks[start].outputs, int(out))
        return made

    def _block(self, one: Section) -> SimulinkBlock:
        kind = one.values.get("BlockType", one.kind)
        values = {**self.file.defaults.get(kind, {}), **one.values}
        for part in one.all("InstanceData"):
            values.update(part.values)
        title = one.values.get("Name", kind)
        counts = one.first("PortCounts") or Section("")
        ports = [int(n) for n in re.findall(r"\d+", values.get("Ports", ""))[:2]]
        inputs, outputs = (
            int(counts.values.get(side, "0") if counts.values.get(side, "0").isdigit() else 0)
            or (ports[k] if k < len(ports) else 0)
            for k, side in enumerate(("in", "out"))
        )
        key = one.values.get("SID", title)
        return SimulinkBlock(key, title, kind, values, one, min(inputs, 1000), min(outputs, 1000))

    def _line(self, line: Section, system: System, by_name: Mapping[str, str]) -> None:
        values = line.values
        source = _end(values.get("Src"), values.get("SrcBlock"), values.get("SrcPort"), by_name)
        if source is None:
            return
        name = values.get("Name", "") or _port_name(system, source)
        for one in _branches(line, 0):
            given = one.values
            end = _end(given.get("Dst"), given.get("DstBlock"), given.get("DstPort"), by_name)
            if end is not None:
                system.reached[end] = source
                system.names[end] = name

    # --- blocks -----------------------------------------------------------------------------------

    def _fill(self, system: System, sheet: Sheet, path: str, depth: int) -> None:
        """Write a system's blocks and wires into a sheet."""
        ends: dict[tuple[str, str], str] = {}
        for block in system.blocks.values():
            self._place(system, sheet, block, f"{path}{block.title}", ends, depth)
        for end, text in ends.items():
            start = self._source(system, end)
            if start is not None:
                sheet.wire(start, text)
            elif not text.startswith("out."):
                if "ground" not in sheet.wires:
                    sheet.blocks.append(DraftBlock("ground", {"type": "CONSTANT", "value": 0.0}))
                sheet.wire("ground", text)

    def _source(self, system: System, end: tuple[str, str]) -> str | None:
        """What an input is wired to; blocks that are wires are passed."""
        seen = set()
        start = system.reached.get(end)
        while start is not None and start[0] in system.wires and start not in seen:
            seen.add(start)
            start = system.reached.get((start[0], "1"))
        return system.sources.get(start) if start is not None else None

    def _place(
        self, system: System, sheet: Sheet, block: SimulinkBlock, path: str,
        ends: dict[tuple[str, str], str], depth: int,
    ) -> None:  # fmt: skip
        if block.kind in ("Inport", "Outport"):
            self._port(system, sheet, block, path, ends)
            return
        if block.kind in _NO_BLOCKS:
            return
        try:
            inner = block.section.first("System")
            if block.kind == "SubSystem" and inner is not None:
                self._subsystem(system, sheet, block, path, inner, ends, depth)
                return
            carried = self._rule(block)(_GivenBlock(self, system, block))
            arguments = {key: _written(value) for key, value in carried.arguments.items()}
        except NotCarriedError as error:
            self._hole(system, sheet, block, path, str(error), ends)
            return
        if carried.wire:
            system.wires[block.key] = (block.key, "1")
            self._row(path, block, "a wire", carried.remark)
            return
        self._add(system, sheet, block, Carried(arguments, carried.remark), ends)
        self._row(path, block, str(carried.arguments["type"]), carried.remark)

    def _rule(self, block: SimulinkBlock) -> Any:
        name = block.kind
        if name in ("Reference", "SubSystem", "M-S-Function"):
            name = block.values.get("SourceBlock", block.values.get("SourceType", ""))
            name = " ".join(name.rpartition("/")[2].split()).lower()
        if name not in RULES:
            raise NotCarriedError(f"there is no rule for {name or block.kind}")
        return RULES[name]

    def _row(self, path: str, block: SimulinkBlock, became: str, remark: str) -> None:
        state: State = "changed" if remark else "carried"
        self.draft.rows.append(Row(path, _kind(block), became, state, remark))

    def _add(
        self, system: System, sheet: Sheet, block: SimulinkBlock, carried: Carried,
        ends: dict[tuple[str, str], str],
    ) -> None:  # fmt: skip
        name = sheet.named(block.title)
        remarks = [f"changed: {carried.remark}"] if carried.remark else []
        arguments = carried.arguments
        sheet.blocks.append(DraftBlock(name, arguments, remarks))
        self._spot(sheet, name, block)
        inputs = self._inputs_of(arguments, block)
        numbered = inputs > 1
        if arguments["type"] == "SCOPE" and self._takes_bus(system, block):
            numbered = False  # it has as many inputs as there are signals in its buses
            del arguments["nin"]
        for k in range(inputs):
            ends[block.key, str(k + 1)] = f"{name}.{k}" if numbered else name
        held = self._held(sheet, system, block, arguments, name)
        for k in range(max(block.outputs, 1)):
            several = block.outputs > 1 or arguments["type"] in ("HIT_CROSSING", "INVERSE")
            system.sources[block.key, str(k + 1)] = held or (f"{name}.{k}" if several else name)

    def _inputs_of(self, arguments: Mapping[str, Any], block: SimulinkBlock) -> int:
        """The number of inputs of a block here: as many as in the model, and those of a PID."""
        sources = ("CONSTANT", "STEP", "RAMP", "WAVEFORM", "PULSE", "TIME", "NOISE", "REPEATING",
                   "FROM")  # fmt: skip
        if arguments["type"] in sources:
            return 0
        if arguments["type"].startswith("PID_2DOF"):
            return 2
        return max(block.inputs, 1)

    def _takes_bus(self, system: System, block: SimulinkBlock) -> bool:
        sources = (system.reached.get((block.key, str(k + 1))) for k in range(block.inputs))
        kinds = [system.blocks[one[0]].kind for one in sources if one and one[0] in system.blocks]
        return "BusCreator" in kinds

    def _held(
        self, sheet: Sheet, system: System, block: SimulinkBlock, arguments: Mapping[str, Any],
        name: str,
    ) -> str | None:  # fmt: skip
        """A ZOH behind a block without a clock that has a sample time of its own."""
        if "clock" in arguments or block.outputs != 1 or arguments["type"] == "CONSTANT":
            return None
        period = _number(block.values.get("SampleTime", "-1"), system.known)
        if period is None or not 0 < period < np.inf:
            return None
        hold = sheet.named(f"{name}_held")
        clock = self.clock(period, 0.0)
        sheet.blocks.append(DraftBlock(hold, {"type": "ZOH", "clock": clock}))
        sheet.wire(name, hold)
        return hold

    def _spot(self, sheet: Sheet, name: str, block: SimulinkBlock) -> None:
        numbers = re.findall(r"-?\d+(?:\.\d+)?", block.values.get("Position", ""))[:4]
        if len(numbers) == 4:
            sheet.spots[name] = (float(numbers[0]), float(numbers[1]))

    def _hole(
        self, system: System, sheet: Sheet, block: SimulinkBlock, path: str, why: str,
        ends: dict[tuple[str, str], str],
    ) -> None:  # fmt: skip
        ports = (block.inputs, block.outputs)
        name = self.draft.hole(sheet, block.title, _kind(block), ports, why)
        self._spot(sheet, name, block)
        for k in range(block.inputs):
            ends[block.key, str(k + 1)] = f"{name}.{k}"
        for k in range(block.outputs):
            system.sources[block.key, str(k + 1)] = f"{name}.{k}"
        self.draft.rows.append(Row(path, _kind(block), "", "left", why))

    # --- ports and subsystems ---------------------------------------------------------------------

    def _port(
        self, system: System, sheet: Sheet, block: SimulinkBlock, path: str,
        ends: dict[tuple[str, str], str],
    ) -> None:  # fmt: skip
        """An Inport or an Outport; those of the model become a CONSTANT and a RECORD."""
        inward = block.kind == "Inport"
        if system.parent is not None:
            if inward:
                name = sheet.inputs[_port_number(block) - 1]
                system.sources[block.key, "1"] = f"in.{name}"
            else:
                name = sheet.outputs[_port_number(block) - 1]
                ends[block.key, "1"] = f"out.{name}"
            return
        made = {"type": "CONSTANT", "value": 0.0} if inward else {"type": "RECORD"}
        remark = "an input of the model; zero here" if inward else ""
        self._add(system, sheet, block, Carried(made, remark), ends)
        self._row(path, block, str(made["type"]), remark)

    def _subsystem(
        self, system: System, sheet: Sheet, block: SimulinkBlock, path: str, section: Section,
        ends: dict[tuple[str, str], str], depth: int,
    ) -> None:  # fmt: skip
        chart = block.values.get("SFBlockType", "NONE")
        if chart != "NONE" or block.values.get("MaskType") == "Stateflow":
            raise NotCarriedError(f"it holds code: {chart}")
        if block.values.get("SourceBlock") or depth >= DEEPEST:
            raise NotCarriedError("it is of a library, or nested too deeply")
        if block.values.get("Variant") == "on":
            raise NotCarriedError("it has variants")
        inner = self._system(section, self._scope(system, block), (system, block.key))
        made = Sheet(remarks=[f"of {_one_line(path)}"])
        made.names |= {"ground"}
        special = self._interface(inner, made)
        name = sheet.named(block.title)
        made.name = f"part_{len(self.draft.subsystems) + 1}_{name}"
        self.draft.subsystems.append(made)
        sheet.blocks.append(DraftBlock(name, {"type": made.name}))
        self._spot(sheet, name, block)
        period = _number(block.values.get("SystemSampleTime", "-1"), system.known)
        sampled = period is not None and 0 < period < np.inf
        remark = "its sample time acts only on its sampled blocks" if sampled else ""
        self._row(path, block, "a subsystem", remark)
        for k, port in enumerate(made.inputs):
            ends[block.key, special.get(port, str(k + 1))] = f"{name}.{port}"
        for k, port in enumerate(made.outputs):
            system.sources[block.key, str(k + 1)] = f"{name}.{port}"
        self._fill(inner, made, f"{path}/", depth + 1)

    def _interface(self, inner: System, made: Sheet) -> dict[str, str]:
        """Give a sheet its ports and conditions; returns the ports of conditions, by input."""
        for kind, names in (("Inport", made.inputs), ("Outport", made.outputs)):
            ports = [b for b in inner.blocks.values() if b.kind == kind]
            taken: set[str] = set()
            for block in sorted(ports, key=_port_number):
                name, k = plain_name(block.title), 2
                while name in taken:
                    name, k = f"{plain_name(block.title)}_{k}", k + 1
                taken.add(name)
                names.append(name)
            for number, block in enumerate(sorted(ports, key=_port_number), 1):
                block.values = {**block.values, "Port": str(number)}
        special = {}
        for block in inner.blocks.values():
            if block.kind in _CONDITIONS:
                name = "run_if" if block.kind != "ResetPort" else "reset_if"
                name += f"_{_CONDITIONS[block.kind]}"
                made.inputs.append(name)
                special[name] = _CONDITIONS[block.kind]
                made.conditions.update(self._condition(block, name))
        return special

    def _condition(self, block: SimulinkBlock, name: str) -> dict[str, Any]:
        if block.kind in ("EnablePort", "ActionPort"):
            key = "StatesWhenEnabling" if block.kind == "EnablePort" else "InitializeStates"
            return {"enabled": {"by": name, "states": block.values.get(key, "held")}}
        if block.kind == "ResetPort":
            return {"reset": {"by": name, "edge": block.values.get("ResetTriggerType", "rising")}}
        edge = block.values.get("TriggerType", "rising")
        if edge == "function-call":
            raise NotCarriedError("it is called by functions")
        return {"triggered": {"by": name, "edge": edge}}

    def _scope(self, system: System, block: SimulinkBlock) -> Mapping[str, Any]:
        """The variables that the inside of a subsystem sees: its mask's before those outside."""
        found = dict(_mask(block))
        if not found:
            return system.known
        known = dict(system.known)
        for name, text in found.items():
            try:
                known[name] = _Masked(value_of(text, _bare(system.known)))
            except UnreadableError:
                known.pop(name, None)
        return known

    # --- parameters and sample times --------------------------------------------------------------

    def parameter(self, block: SimulinkBlock, key: str, text: str, known: Mapping[str, Any]) -> Any:
        """A parameter for the file."""
        if _IDENTIFIER.fullmatch(text) and text in known and not isinstance(known[text], _Masked):
            name = self.used.setdefault(text, text.replace(".", "_"))
            self.draft.top.params[name] = _written(value_of(text, known))
            return f"${name}"
        try:
            return value_of(text, _bare(known))
        except UnknownNameError as error:
            name = text if text.isidentifier() else f"{plain_name(block.title)}_{key}"
            told = f"{_one_line(text)}, {key} of {_one_line(block.title)}; {error}"
            self.draft.missing.setdefault(name, told)
            return f"${name}"
        except UnreadableError as error:
            raise NotCarriedError(f"{key} is {brief(text)}: {error}") from None

    def clock(self, period: float, offset: float) -> str:
        """The name of the clock with a period and an offset [s]."""
        given = {"T": period, **({"offset": offset} if offset else {})}
        for name, clock in self.draft.clocks.items():
            if clock == given:
                return name
        name = f"clock_{len(self.draft.clocks) + 1}"
        self.draft.clocks[name] = given
        return name

    def inherited(self, system: System, block: SimulinkBlock) -> tuple[float, float]:
        """The sample time that a block inherits: that of the blocks before it, if they have one;
        otherwise the model's fixed step."""
        found = set(_before(system, block.key, set()))
        if len(found) == 1:
            return next(iter(found))
        step = _number(self.file.settings.get("FixedStep", "auto"), self.top_known(system))
        if step is None or len(found) > 1:
            raise NotCarriedError("its sample time is inherited, and is not known")
        return step, 0.0

    def top_known(self, system: System) -> Mapping[str, Any]:
        while system.parent is not None:
            system = system.parent[0]
        return system.known


class _Masked:
    """The value of a mask's variable, which is no parameter of the diagram."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _bare(known: Mapping[str, Any]) -> Mapping[str, Any]:
    return {k: v.value if isinstance(v, _Masked) else v for k, v in known.items()}


class _GivenBlock:
    """A block of a model, for a rule."""

    def __init__(self, conversion: _Conversion, system: System, block: SimulinkBlock) -> None:
        self._conversion, self._system, self._block = conversion, system, block
        self.inputs, self.outputs = block.inputs, block.outputs

    def text(self, key: str, default: str = "") -> str:
        return self._block.values.get(key) or default

    def on(self, key: str) -> bool:
        return self._block.values.get(key) == "on"

    def value(self, key: str, default: str = "") -> Any:
        try:
            return self.computed(self.text(key, default))
        except NotCarriedError as error:
            raise NotCarriedError(f"{key}: {error}") from None

    def computed(self, text: str) -> Any:
        try:
            return value_of(text, _bare(self._system.known))
        except UnreadableError as error:
            raise NotCarriedError(f"{brief(text)}: {error}") from None

    def param(self, key: str, default: str = "") -> Any:
        text = self.text(key, default).strip()
        return self._conversion.parameter(self._block, key, text, self._system.known)

    def clock(self, default: str = "-1") -> str:
        key = next((k for k in ("SampleTime", "samptime", "tsamp") if self.text(k)), "SampleTime")
        given = np.ravel(self.value(key, default))
        if given.size not in (1, 2) or given.dtype.kind != "f":
            raise NotCarriedError(f"its sample time is {self.text(key)}")
        period, offset = float(given[0]), float(given[1]) if given.size > 1 else 0.0
        if period < 0:
            period, offset = self._conversion.inherited(self._system, self._block)
        if not 0 < period < np.inf:
            raise NotCarriedError("its sample time is that of the solver")
        return self._conversion.clock(period, offset)

    @property
    def takes_vector(self) -> bool:
        source = self._system.reached.get((self._block.key, "1"))
        block = self._system.blocks.get(source[0]) if source is not None else None
        return block is not None and block.kind == "Mux"

    def line_names(self) -> list[str]:
        key = self._block.key
        return [self._system.names.get((key, str(k + 1)), "") for k in range(self.inputs)]


# --- helpers --------------------------------------------------------------------------------------


def _end(
    joined: str | None, block: str | None, port: str | None, by_name: Mapping[str, str]
) -> tuple[str, str] | None:
    """An end of a line: `5#out:1`, or a block's name and a port. None for other lines."""
    if joined:
        key, _, rest = joined.rpartition("#")
        return (key, rest.rpartition(":")[2]) if key else None
    if block is None or block not in by_name:
        return None
    return by_name[block], (port or "1").strip()


def _port_name(system: System, source: tuple[str, str]) -> str:
    """The name of the signal of an output, as its block has it."""
    block = system.blocks.get(source[0])
    ports = block.section.all("Port") if block is not None else ()
    numbered = (p for p in ports if p.values.get("PortNumber", "1") == source[1])
    return next((p.values["Name"] for p in numbered if "Name" in p.values), "")


def _branches(line: Section, depth: int) -> Iterator[Section]:
    yield line
    if depth < 50:
        for branch in line.all("Branch"):
            yield from _branches(branch, depth + 1)


def _before(system: System, key: str, seen: set[tuple[int, str]]) -> Iterator[tuple[float, float]]:
    """The discrete sample times of the blocks before a block."""
    for (end, _), (start, _) in system.reached.items():
        if end != key or (id(system), start) in seen or start not in system.blocks:
            continue
        seen.add((id(system), start))
        block = system.blocks[start]
        period = _number(block.values.get("SampleTime", "-1"), _bare(system.known))
        if period is not None and 0 < period < np.inf:
            yield period, 0.0
        elif block.kind == "Inport" and system.parent is not None:
            yield from _before(*system.parent, seen)
        elif period is None or period < 0:
            yield from _before(system, start, seen)


def _number(text: str, known: Mapping[str, Any]) -> float | None:
    try:
        found = value_of(text, _bare(known))
    except UnreadableError:
        return None
    return float(found) if isinstance(found, float) else None


def _port_number(block: SimulinkBlock) -> int:
    text = block.values.get("Port", "1")
    return int(text) if text.isdigit() else 1


def _mask(block: SimulinkBlock) -> Iterator[tuple[str, str]]:
    """The variables of a block's mask, with their expressions."""
    names = re.findall(r"(\w+)\s*=\s*[@&]\d+", block.values.get("MaskVariables", ""))
    texts = block.values.get("MaskValueString", "").split("|")
    yield from zip(names, texts, strict=False)
    yield from _mask_parameters(block.section.parts)


def _mask_parameters(parts: Sequence[Section]) -> Iterator[tuple[str, str]]:
    for part in parts:
        if part.kind in ("MaskParameter", "Simulink.MaskParameter") or (
            part.values.get("$ClassName", part.values.get("ClassName")) == "Simulink.MaskParameter"
        ):
            if "Name" in part.values and "Value" in part.values:
                yield part.values["Name"], part.values["Value"]
        elif part.kind in ("Mask", "Array", "Object", "Simulink.Mask"):
            yield from _mask_parameters(part.parts)


def _kind(block: SimulinkBlock) -> str:
    source = block.values.get("SourceBlock")
    return f"{block.kind} {source.rpartition('/')[2]}" if source else block.kind


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _written(value: Any) -> Any:
    """A value as YAML holds it."""
    if isinstance(value, dict):
        return {key: _written(one) for key, one in value.items()}
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "c":
            raise NotCarriedError("it is complex")
        if value.size > MOST_PARAMETER:
            raise NotCarriedError(f"it has {value.size} entries")
        return value.tolist()
    return value.item() if isinstance(value, np.generic) else value
