"""Models of Simulink as diagram files: structure, parameters, sample times, places of blocks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, Place, brief
from spart_blocks.base.tableaus import FIXED_STEP
from spart_blocks.diagram.converted.draft import (
    Draft,
    DraftBlock,
    Row,
    Sheet,
    State,
    plain_name,
)
from spart_blocks.diagram.converted.matlab import UnknownNameError, UnreadableError, value_of
from spart_blocks.diagram.converted.simulink.files import ModelFile, Section, read_model_file
from spart_blocks.diagram.converted.simulink.given import (
    Carried,
    NotCarriedError,
    Rule,
    wire,
)
from spart_blocks.diagram.converted.simulink.model import (
    CONDITIONS,
    Masked,
    Port,
    SimulinkBlock,
    System,
    bare_values,
    cells,
    constant_at,
    mask_of,
    number,
    read_block,
    sample_times_before,
    width_at,
    wire_up,
)
from spart_blocks.diagram.converted.simulink.rules import MARKED, RULES, bare, reason
from spart_blocks.diagram.converted.workspace import assigned

MOST_BLOCKS = 20_000
DEEPEST = 16
MOST_PARAMETER = 50_000
"""Largest number of entries of a parameter that is written into a file."""
_SOLVERS = {"ode1": "euler", "ode2": "heun", "ode4": "RK4", "ode14x": "Rodas3",
            "ode1be": "Rodas3", "ode45": "RK45", "ode23": "RK23", "ode15s": "BDF",
            "ode113": "LSODA", "ode23s": "Radau"}  # fmt: skip
_IDENTIFIER = re.compile(r"[A-Za-z]\w*(?:\.[A-Za-z]\w*)*")
_LIBRARIES = re.compile(r"simulink|s?l?pid_?lib|aero|dsp|hdl|built-in", re.IGNORECASE)
"""Libraries that Simulink comes with; blocks of others are looked for in files beside the model."""
_TAKEN = {"type", "use", "for_each", "enabled", "triggered", "reset", "params"}
"""What a block of a subsystem has by these names is no parameter."""
Ends = dict[Port, list[str]]


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
        self.libraries: dict[str, ModelFile | None] = {}
        self.stores: dict[str, list[str]] = {}  # initial values by name
        self.writers: dict[str, int] = {}
        self._count_stores(file.system)
        known = {**self._called(workspace), **workspace}
        self.top = self._system(file.system, known, self.draft.top)
        self._fill(self.top, "", 0)
        self._settings(known)

    def _called(self, workspace: Mapping[str, Any]) -> dict[str, Any]:
        """The variables that the model's own calls assign."""
        found: dict[str, Any] = {}
        for name, code in self.file.code.items():
            made, left = assigned(name, code, {**found, **workspace})
            found |= made
            self.draft.head += [f"left out: {line}" for line in left[:10]]
        return found

    def _settings(self, workspace: Mapping[str, Any]) -> None:
        told, run = self.file.settings, self.draft.run
        stop = number(told.get("StopTime", "10"), workspace)
        run["T"] = stop if stop is not None and np.isfinite(stop) and stop > 0 else 10
        solver = _SOLVERS.get(told.get("Solver") or told.get("SolverName") or "")
        step = number(told.get("FixedStep", "auto"), workspace)
        if solver is not None and (solver not in FIXED_STEP or step):
            run["solver"] = solver
            if solver in FIXED_STEP:
                run["max_step"] = step

    def _count_stores(self, section: Section) -> None:
        for part in section.parts:
            name = part.values.get("DataStoreName", "A")
            kind = part.values.get("BlockType")
            if kind == "DataStoreMemory":
                self.stores.setdefault(name, []).append(part.values.get("InitialValue", "0"))
            elif kind == "DataStoreWrite":
                self.writers[name] = self.writers.get(name, 0) + 1
            self._count_stores(part)

    # --- the model's systems ----------------------------------------------------------------------

    def _system(
        self, section: Section, known: Mapping[str, Any], sheet: Sheet,
        parent: tuple[System, str] | None = None,
    ) -> System:  # fmt: skip
        blocks: dict[str, SimulinkBlock] = {}
        for one in [part for part in section.parts if part.kind in ("Block", "Reference")]:
            self.count += 1
            if self.count > MOST_BLOCKS:
                place = Place(str(self.file.path))
                raise InputError(Fault(f"it has more than {MOST_BLOCKS} blocks", place))
            block = read_block(one, self.file.defaults)
            if block.values.get("Commented", "off") != "on":
                blocks[block.key] = block
        made = System(blocks, {}, {}, known, sheet, parent)
        triggers = [b for b in blocks.values() if b.kind == "TriggerPort"]
        made.triggered = bool(triggers) or (parent is not None and parent[0].triggered)
        wire_up(section, made)
        return made

    def _fill(self, system: System, path: str, depth: int) -> None:
        """Write a system's blocks and wires into its sheet."""
        ends: Ends = {}
        sheet = system.sheet
        for block in system.blocks.values():
            self._place(system, block, f"{path}{block.title}", ends, depth)
        for end, texts in ends.items():
            start = system.source(end)
            source = system.sources.get(start) if start is not None else None
            for text in texts:
                if source is not None:
                    sheet.wire(source, text)
                elif not text.startswith("out."):
                    if "ground" not in sheet.wires:
                        zero = DraftBlock("ground", {"type": "CONSTANT", "value": 0.0})
                        sheet.blocks.append(zero)
                    sheet.wire("ground", text)

    # --- blocks -----------------------------------------------------------------------------------

    def _place(
        self, system: System, block: SimulinkBlock, path: str, ends: Ends, depth: int
    ) -> None:
        if block.kind in ("Inport", "Outport"):
            self._port(system, block, path, ends)
            return
        if block.kind in (*CONDITIONS, "ForEach"):
            return
        try:
            if block.values.get("Commented") == "through":
                carried = wire("it is commented through")
            else:
                block = self._linked(block)
                inner = block.section.first("System")
                if block.kind == "SubSystem" and inner is not None:
                    self._subsystem(system, block, path, inner, ends, depth)
                    return
                carried = self._rule(block)(_GivenBlock(self, system, block))
            carried = _written_out(carried)
        except NotCarriedError as error:
            self._hole(system, block, path, str(error), ends)
            return
        if carried.wire or not carried.arguments:
            if carried.wire:
                system.wires[block.key] = str(carried.wire)
            self._row(path, block, "a wire" if carried.wire else "nothing", carried.remark)
            return
        self._add(system, block, carried, ends)
        self._row(path, block, str(carried.arguments["type"]), carried.remark)

    def _rule(self, block: SimulinkBlock) -> Rule:
        name = block.kind
        if name in ("Reference", "SubSystem", "M-S-Function"):
            source, kind = block.values.get("SourceBlock", ""), block.values.get("SourceType", "")
            library, *_, name = _steps(source or kind or name)
            if source and not _LIBRARIES.match(library):
                hint = f"put {library}.slx or {library}.mdl beside the model"
                raise NotCarriedError(f"it is of the library {library}, which is not here: {hint}")
            if bare(name) not in RULES and bare(kind) in RULES:
                name = kind
        if bare(name) not in RULES:
            raise NotCarriedError(self._why(block, name))
        return RULES[bare(name)]

    def _why(self, block: SimulinkBlock, name: str) -> str:
        if block.kind == "ModelReference":
            given = block.values.get("ModelName", block.values.get("ModelFile", ""))
            model = plain_name(given.split(".")[0])
            return f"it is the model {model}: convert it too, and write `use: {model}.yaml`"
        return reason(name)

    def _row(self, path: str, block: SimulinkBlock, became: str, remark: str) -> None:
        state: State = "changed" if remark else "carried"
        self.draft.rows.append(Row(path, _kind(block), became, state, remark))

    def _add(self, system: System, block: SimulinkBlock, carried: Carried, ends: Ends) -> None:
        sheet = system.sheet
        name = sheet.named(block.title)
        remarks = [f"changed: {carried.remark}"] if carried.remark else []
        arguments = carried.arguments
        sheet.blocks.append(DraftBlock(name, arguments, remarks))
        self._spot(sheet, name, block)
        if carried.wires:
            self._wire_parts(system, block, name, carried, ends)
            return
        inputs = _inputs_of(arguments, block)
        numbered = inputs > 1
        if arguments["type"] == "SCOPE" and self._takes_bus(system, block):
            numbered = False  # it has as many inputs as there are signals in its buses
            del arguments["nin"]
        for k in range(inputs):
            ends[block.key, str(k + 1)] = [f"{name}.{k}" if numbered else name]
        held = self._held(system, block, arguments, name)
        for k in range(max(block.outputs, 1)):
            several = block.outputs > 1
            system.sources[block.key, str(k + 1)] = held or (f"{name}.{k}" if several else name)

    def _wire_parts(
        self, system: System, block: SimulinkBlock, name: str, carried: Carried, ends: Ends
    ) -> None:
        """Add the parts of a block that becomes several, and wire them."""
        sheet, names = system.sheet, {"it": name}
        for part, arguments in carried.parts.items():
            names[part] = sheet.named(f"{name}_{part}")
            sheet.blocks.append(DraftBlock(names[part], arguments))

        def written(text: str) -> str:
            part, dot, port = text.partition(".")
            return f"{names[part]}{dot}{port}"

        for text in carried.wires:
            start, _, rest = text.partition(" -> ")
            for end in rest.split(", "):
                if end.startswith("out."):
                    system.sources[block.key, end[4:]] = written(start)
                elif start.startswith("in."):
                    ends.setdefault((block.key, start[3:]), []).append(written(end))
                else:
                    sheet.wire(written(start), written(end))

    def _takes_bus(self, system: System, block: SimulinkBlock) -> bool:
        sources = (system.reached.get((block.key, str(k + 1))) for k in range(block.inputs))
        kinds = [system.blocks[one[0]].kind for one in sources if one and one[0] in system.blocks]
        return "BusCreator" in kinds

    def _held(
        self, system: System, block: SimulinkBlock, arguments: Mapping[str, Any], name: str
    ) -> str | None:
        """A ZOH behind a block without a clock that has a sample time of its own."""
        if "clock" in arguments or block.outputs != 1 or arguments["type"] == "CONSTANT":
            return None
        period = number(block.values.get("SampleTime", "-1"), system.known)
        if period is None or not 0 < period < np.inf or system.triggered:
            return None
        sheet = system.sheet
        hold = sheet.named(f"{name}_held")
        clock = self.clock(period, 0.0)
        sheet.blocks.append(DraftBlock(hold, {"type": "ZOH", "clock": clock}))
        sheet.wire(name, hold)
        return hold

    def _spot(self, sheet: Sheet, name: str, block: SimulinkBlock) -> None:
        numbers = re.findall(r"-?\d+(?:\.\d+)?", block.values.get("Position", ""))[:4]
        if len(numbers) == 4:
            sheet.spots[name] = (float(numbers[0]), float(numbers[1]))

    def _hole(self, system: System, block: SimulinkBlock, path: str, why: str, ends: Ends) -> None:
        ports = (block.inputs, block.outputs)
        name = self.draft.hole(system.sheet, block.title, _kind(block), ports, why)
        self._spot(system.sheet, name, block)
        for k in range(block.inputs):
            ends[block.key, str(k + 1)] = [f"{name}.{k}"]
        for k in range(block.outputs):
            system.sources[block.key, str(k + 1)] = f"{name}.{k}"
        self.draft.rows.append(Row(path, _kind(block), "", "left", why))

    # --- libraries --------------------------------------------------------------------------------

    def _linked(self, block: SimulinkBlock) -> SimulinkBlock:
        """A block of a library whose file is beside the model: with the inside that it has there,
        and its own values."""
        library, *path = _steps(block.values.get("SourceBlock", ""))
        if block.kind != "Reference" or not path or not re.fullmatch(r"[A-Za-z]\w*", library):
            return block
        file = self._library(library)
        section = file.system if file is not None else None
        for step in path:
            found = None
            for part in section.all("Block") if section is not None else ():
                if " ".join(part.values.get("Name", "").split()) == step:
                    found = part
            if found is None:
                return block
            last, section = found, found.first("System")
        there = read_block(last, file.defaults if file is not None else {})
        values = {**there.values, **{k: v for k, v in block.values.items() if k != "BlockType"}}
        values.pop("SourceBlock", None)
        ports = block.inputs or there.inputs, block.outputs or there.outputs
        return SimulinkBlock(block.key, block.title, there.kind, values, last, *ports)

    def _library(self, name: str) -> ModelFile | None:
        if name not in self.libraries:
            paths = [self.file.path.with_name(f"{name}{suffix}") for suffix in (".slx", ".mdl")]
            path = next((path for path in paths if path.is_file()), None)
            self.libraries[name] = None if path is None else read_model_file(path)
        return self.libraries[name]

    # --- ports and subsystems ---------------------------------------------------------------------

    def _port(self, system: System, block: SimulinkBlock, path: str, ends: Ends) -> None:
        """An Inport or an Outport; those of the model become a CONSTANT and a RECORD."""
        inward = block.kind == "Inport"
        if system.parent is not None:
            names = system.sheet.inputs if inward else system.sheet.outputs
            name = names[_port_number(block) - 1]
            if inward:
                system.sources[block.key, "1"] = f"in.{name}"
            else:
                ends[block.key, "1"] = [f"out.{name}"]
            return
        arguments = {"type": "CONSTANT", "value": 0.0} if inward else {"type": "RECORD"}
        remark = "an input of the model; zero here" if inward else ""
        self._add(system, block, Carried(arguments, remark), ends)
        self._row(path, block, str(arguments["type"]), remark)

    def _subsystem(
        self, system: System, block: SimulinkBlock, path: str, section: Section, ends: Ends,
        depth: int,
    ) -> None:  # fmt: skip
        chart = block.values.get("SFBlockType", "NONE")
        if chart != "NONE" or block.values.get("MaskType") == "Stateflow":
            raise NotCarriedError(reason(chart if chart != "NONE" else "Chart"))
        if block.values.get("MaskType") == "Sigbuilder block":
            raise NotCarriedError("its signals are not read; here: PIECEWISE or DATA")
        if block.values.get("SourceBlock") or depth >= DEEPEST:
            raise NotCarriedError("it is of a library, or nested too deeply")
        outer = block
        if block.values.get("Variant") == "on":
            block, section = self._choice(system, block, section)
        known, own = self._scope(system, outer, block)
        made = Sheet(remarks=[f"of {_one_line(path)}"])
        made.names |= {"ground"}
        inner = self._system(section, known, made, (system, outer.key))
        _refuse_loops(inner)
        special = self._interface(inner, made)
        name = system.sheet.named(outer.title)
        made.name = f"part_{len(self.draft.subsystems) + 1}_{name}"
        arguments: dict[str, Any] = {"type": made.name}
        each = self._for_each(system, outer, inner, made)
        if each:
            arguments["for_each"] = each
        inner.holder, inner.masked = DraftBlock(name, arguments), own
        self.draft.subsystems.append(made)
        system.sheet.blocks.append(inner.holder)
        self._spot(system.sheet, name, outer)
        self._row(path, outer, "a subsystem", _remark(outer, block, system))
        ports = _ports_by_name(outer, block)
        for k, port in enumerate(made.inputs):
            place = special.get(port) or ports[0].get(port, str(k + 1))
            ends[outer.key, place] = [f"{name}.{port}"]
        for k, port in enumerate(made.outputs):
            system.sources[outer.key, ports[1].get(port, str(k + 1))] = f"{name}.{port}"
        self._fill(inner, f"{path}/", depth + 1)

    def _choice(
        self, system: System, block: SimulinkBlock, section: Section
    ) -> tuple[SimulinkBlock, Section]:
        """The choice of a variant subsystem that is active, and its inside."""
        keys = ("LabelModeActiveChoice", "OverrideUsingVariant", "ActiveVariant")
        active = {block.values.get(key, "").strip("' ") for key in keys} - {""}
        choices = [read_block(one, self.file.defaults) for one in section.all("Block")
                   if one.values.get("BlockType") == "SubSystem"]  # fmt: skip
        for choice in choices:
            label = choice.values.get("VariantControl", "").strip("' ")
            inside = choice.section.first("System")
            if inside is None:
                continue
            known = bare_values(system.known)
            if (label or choice.title) in active or choice.title in active:
                return choice, inside
            try:
                if not active and label and np.all(value_of(label, known)):
                    return choice, inside
            except UnreadableError:
                if not active and label == "(default)":
                    return choice, inside
        raise NotCarriedError("its active choice is not known; here: `variants:`")

    def _for_each(
        self, system: System, block: SimulinkBlock, inner: System, made: Sheet
    ) -> dict[str, Any]:
        """The entry of that name, of a For Each Subsystem."""
        found = next((b for b in inner.blocks.values() if b.kind == "ForEach"), None)
        if found is None:
            return {}
        section = found.section
        if "on" in cells(section, "SubsysMaskParameterPartition"):
            raise NotCarriedError("a parameter of its mask is taken apart")
        for key in ("InputPartitionDimension", "InputPartitionWidth"):
            if any(text not in ("", "1") for text in cells(section, key)):
                raise NotCarriedError(f"{key} is {', '.join(cells(section, key))}")
        parted = cells(section, "InputPartition")
        over, count = [], number(found.values.get("SpecifiedNumIters", "-1"), system.known)
        for k, name in enumerate(made.inputs):
            if k < len(parted) and parted[k] != "on":
                continue
            over.append(name)
            if count is None or count < 1:
                count = width_at(system, (block.key, str(k + 1)))
        return {"over": over, **({"count": int(count)} if count and count >= 1 else {})}

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
            for place, block in enumerate(sorted(ports, key=_port_number), 1):
                block.values = {**block.values, "Port": str(place)}
        special = {}
        for block in inner.blocks.values():
            if block.kind in CONDITIONS:
                name = "run_if" if block.kind != "ResetPort" else "reset_if"
                name += f"_{CONDITIONS[block.kind]}"
                made.inputs.append(name)
                special[name] = CONDITIONS[block.kind]
                made.conditions.update(_condition(block, name))
                inner.sources[block.key, "1"] = f"in.{name}"
        self._held_outputs(inner, made)
        return special

    def _held_outputs(self, inner: System, made: Sheet) -> None:
        """What the outputs of a conditional subsystem give while it does not run."""
        key = "triggered" if "triggered" in made.conditions else "enabled"
        if key not in made.conditions:
            return
        off, initial = {}, {}
        for block in inner.blocks.values():
            if block.kind != "Outport":
                continue
            name = made.outputs[_port_number(block) - 1]
            text = block.values.get("InitialOutput", "[]")
            value = _GivenBlock(self, inner, block).computed(text) if text != "[]" else 0.0
            if key == "enabled" and block.values.get("OutputWhenDisabled") == "reset":
                off[name] = _written(value)
            elif np.any(value):
                initial[name] = _written(value)
        given = {"outputs": off, "initial": initial}
        made.conditions[key].update({name: value for name, value in given.items() if value})

    def _scope(
        self, system: System, block: SimulinkBlock, choice: SimulinkBlock
    ) -> tuple[Mapping[str, Any], dict[str, Any]]:
        """The variables that the inside of a subsystem sees: those of its mask before those
        outside; and those that its mask gives, as the file has them outside."""
        known, own = dict(system.known), {}
        for one in (block, choice) if choice is not block else (block,):
            found, code = mask_of(one.section)
            seen = bare_values(known)
            for name, text in found.items():
                given = one.values.get(name, text)
                try:
                    value = value_of(given, seen)
                except UnreadableError:
                    known.pop(name, None)
                    continue
                known[name] = Masked(value, name not in _TAKEN and one is block)
                own[name] = given
            made, _ = assigned("", code, bare_values(known))
            for name, value in made.items():
                known[name] = Masked(value)
                own.pop(name, None)
        return known, own

    # --- parameters and sample times --------------------------------------------------------------

    def parameter(self, system: System, block: SimulinkBlock, key: str, text: str) -> Any:
        """A parameter for the file."""
        known = system.known
        if _IDENTIFIER.fullmatch(text) and text in known:
            found = known[text]
            if not isinstance(found, Masked):
                name = self.used.setdefault(text, text.replace(".", "_"))
                self.draft.top.params[name] = _written(value_of(text, known))
                return f"${name}"
            if found.own:
                return self._of_mask(system, text, found.value)
        try:
            return value_of(text, bare_values(known))
        except UnknownNameError as error:
            name = text if text.isidentifier() else f"{plain_name(block.title)}_{key}"
            told = f"{_one_line(text)}, {key} of {_one_line(block.title)}; {error}"
            self.draft.missing.setdefault(name, told)
            return f"${name}"
        except UnreadableError as error:
            raise NotCarriedError(f"{key} is {brief(text)}: {error}") from None

    def _of_mask(self, system: System, name: str, value: Any) -> str:
        """A variable of a mask as a parameter of the subsystem that has it, which those between
        pass on."""
        if system.parent is None or system.holder is None:
            raise NotCarriedError(f"{name} is of no mask around it")
        outer, key = system.parent
        system.sheet.params.setdefault(name, _written(value))
        if name not in system.holder.arguments:
            own = system.masked.get(name)
            given = (self.parameter(outer, outer.blocks[key], name, own.strip())
                     if own is not None else self._of_mask(outer, name, value))  # fmt: skip
            system.holder.arguments[name] = _written(given)
        return f"${name}"

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
        found = set(sample_times_before(system, block.key))
        if len(found) == 1:
            return next(iter(found))
        step = number(self.file.settings.get("FixedStep", "auto"), self.top_known(system))
        if step is None or len(found) > 1:
            raise NotCarriedError("its sample time is inherited, and is not known")
        return step, 0.0

    def top_known(self, system: System) -> Mapping[str, Any]:
        while system.parent is not None:
            system = system.parent[0]
        return system.known


class _GivenBlock:
    """A block of a model, for a rule."""

    def __init__(self, conversion: _Conversion, system: System, block: SimulinkBlock) -> None:
        self._conversion, self._system, self._block = conversion, system, block
        self.inputs, self.outputs = block.inputs, block.outputs
        self.triggered = system.triggered

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
            return value_of(text, bare_values(self._system.known))
        except UnreadableError as error:
            raise NotCarriedError(f"{brief(text)}: {error}") from None

    def param(self, key: str, default: str = "") -> Any:
        text = self.text(key, default).strip()
        return self._conversion.parameter(self._system, self._block, key, text)

    def clock(self, default: str = "-1") -> str | None:
        if self.triggered:
            return None
        return self._conversion.clock(*self._sample(default))

    def period(self, default: str = "-1") -> float:
        return 1.0 if self.triggered else self._sample(default)[0]

    def every(self, period: float) -> str:
        if self.triggered:
            raise NotCarriedError("it is in a triggered subsystem, which has no time of its own")
        return self._conversion.clock(period, 0.0)

    def _sample(self, default: str) -> tuple[float, float]:
        keys = ("SampleTime", "samptime", "tsamp", "Ts")
        key = next((k for k in keys if self.text(k)), "SampleTime")
        given = np.ravel(self.value(key, default))
        if given.size not in (1, 2) or given.dtype.kind != "f":
            raise NotCarriedError(f"its sample time is {self.text(key)}")
        period, offset = float(given[0]), float(given[1]) if given.size > 1 else 0.0
        if period < 0:
            period, offset = self._conversion.inherited(self._system, self._block)
        if not 0 < period < np.inf:
            raise NotCarriedError("its sample time is that of the solver")
        return period, offset

    def constant(self, number: int) -> Any:
        found = constant_at(self._system, (self._block.key, str(number)))
        if found is None:
            return None
        system, block = found
        if block.kind == "Ground":
            return 0.0
        text = block.values.get("Value", "1").strip()
        try:
            return value_of(text, bare_values(system.known))
        except UnreadableError:
            return self._conversion.parameter(system, block, "Value", text)

    def beginning(self, number: int) -> Any:
        start = self._system.reached.get((self._block.key, str(number)))
        block = self._system.blocks.get(start[0]) if start is not None else None
        if block is not None and block.kind == "InitialCondition":
            text = block.values.get("Value", "1").strip()
            return self._conversion.parameter(self._system, block, "Value", text)
        return self.constant(number)

    def width(self, number: int) -> int | None:
        return width_at(self._system, (self._block.key, str(number)))

    def store(self, name: str) -> tuple[Any, int]:
        starts = self._conversion.stores.get(name, ["0"])
        if len(starts) > 1:
            raise NotCarriedError(f"there are {len(starts)} stores {name}")
        known = bare_values(self._conversion.top_known(self._system))
        try:
            return value_of(starts[0], known), self._conversion.writers.get(name, 0)
        except UnreadableError as error:
            raise NotCarriedError(f"the start of the store {name}: {error}") from None

    @property
    def takes_vector(self) -> bool:
        source = self._system.reached.get((self._block.key, "1"))
        block = self._system.blocks.get(source[0]) if source is not None else None
        return block is not None and block.kind == "Mux"

    def line_names(self) -> list[str]:
        key = self._block.key
        return [self._system.names.get((key, str(k + 1)), "") for k in range(self.inputs)]


# --- helpers --------------------------------------------------------------------------------------


def _condition(block: SimulinkBlock, name: str) -> dict[str, Any]:
    """The condition of a subsystem that a block in it makes."""
    if block.kind in ("EnablePort", "ActionPort"):
        key = "StatesWhenEnabling" if block.kind == "EnablePort" else "InitializeStates"
        return {"enabled": {"by": name, "states": block.values.get(key, "held")}}
    if block.kind == "ResetPort":
        edge = block.values.get("ResetTriggerType", "rising")
        return {"reset": {"by": name, "edge": edge.removesuffix(" hold")}}
    edge = block.values.get("TriggerType", "rising")
    if edge == "function-call":
        raise NotCarriedError(reason("function-call subsystem"))
    return {"triggered": {"by": name, "edge": edge}}


def _refuse_loops(inner: System) -> None:
    for block in inner.blocks.values():
        if block.kind in ("ForIterator", "WhileIterator"):
            raise NotCarriedError(MARKED[bare(block.kind)])


def _remark(block: SimulinkBlock, choice: SimulinkBlock, system: System) -> str:
    if choice is not block:
        return f"the choice {choice.title}; the others are left out"
    period = number(block.values.get("SystemSampleTime", "-1"), system.known)
    sampled = period is not None and 0 < period < np.inf
    return "its sample time acts only on its sampled blocks" if sampled else ""


def _ports_by_name(block: SimulinkBlock, choice: SimulinkBlock) -> tuple[dict[str, str], ...]:
    """The places at a variant subsystem of the ports of its choice: those of the same names."""
    found: tuple[dict[str, str], ...] = ({}, {})
    section = block.section.first("System")
    if choice is block or section is None:
        return found
    for places, kind in zip(found, ("Inport", "Outport"), strict=True):
        for one in section.all("Block"):
            if one.values.get("BlockType") == kind:
                name = plain_name(one.values.get("Name", kind))
                places[name] = one.values.get("Port", "1")
    return found


def _inputs_of(arguments: Mapping[str, Any], block: SimulinkBlock) -> int:
    """The number of inputs of a block here: as many as in the model."""
    sources = ("CONSTANT", "STEP", "RAMP", "WAVEFORM", "PULSE", "TIME", "NOISE", "REPEATING",
               "FROM", "CHIRP", "BAND_LIMITED_NOISE")  # fmt: skip
    return 0 if arguments["type"] in sources else max(block.inputs, 1)


def _port_number(block: SimulinkBlock) -> int:
    text = block.values.get("Port", "1")
    return int(text) if text.isdigit() else 1


def _steps(source: str) -> list[str]:
    """The names of a path in a library; a slash in a name is doubled."""
    parts = source.replace("//", "\0").split("/")
    return [" ".join(part.replace("\0", "/").split()) for part in parts]


def _kind(block: SimulinkBlock) -> str:
    source = block.values.get("SourceBlock")
    return f"{block.kind} {_steps(source)[-1]}" if source else block.kind


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _written_out(carried: Carried) -> Carried:
    """What a block becomes with values as YAML holds them."""
    return Carried(
        {key: _written(value) for key, value in carried.arguments.items()},
        carried.remark,
        {name: _written(part) for name, part in carried.parts.items()},
        carried.wires,
        carried.wire,
    )


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
