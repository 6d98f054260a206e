"""What a run keeps: time, states, and the signals that scopes or `log` ask for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.diagram.flatten import Node, Source, Wiring
from spart_blocks.errors import DiagramError, Fault, did_you_mean
from spart_blocks.results import ScopeSpec
from spart_blocks.simulation.interpreter import Floats, Interpreter

# bdsim 1.4's sinks that act by themselves; others are stepped at every kept sample.
_SILENT = ("stop", "event", "null", "watch")


class Recorder:
    """Samples of the kept signals and of every state."""

    def __init__(self, engine: Interpreter, log: Iterable[str]) -> None:
        wiring = engine.wiring
        self.names = signal_names(wiring)
        self.aliases = aliases_of(wiring)
        self.scopes = tuple(scope_of(node, wiring) for node in wiring.of_kind("graphics"))
        self.kept = self._kept(wiring, log)
        self.shapes: list[tuple[int, ...]] = []
        self.sinks = [n for n in wiring.of_kind("sink") if n.block.type not in _SILENT]
        self.t: list[float] = []
        self.values: list[list[Any]] = [[] for _ in self.kept]
        self.x: list[Floats] = []
        self.xd: list[Floats] = []
        self.adopted: tuple[Floats, list[Floats], Floats, Floats] | None = None

    def _kept(self, wiring: Wiring, log: Iterable[str]) -> dict[str, Source]:
        wanted = [name for scope in self.scopes for name in scope.signals]
        for node in wiring.of_kind("sink"):
            if node.block.type == "watch":
                wanted += [_name(wiring, source) for source in node.sources]
        faults = []
        for name in log:
            base = name.split("[")[0]
            full = self.aliases.get(base, base)
            if full not in self.names:
                hint = did_you_mean(base, [*self.names, *self.aliases])
                faults.append(Fault(f"run.log: there is no signal {name!r}", hint=hint))
            wanted.append(full)
        if faults:
            raise DiagramError(faults)
        return {name: self.names[name] for name in wanted}

    def keep(self, engine: Interpreter, t: float, x: Floats, xd: Floats) -> None:
        """Evaluate the diagram at a sample and keep what is wanted of it."""
        values = engine.outputs(t, x, xd)
        engine.check_finite(t, values)
        self.t.append(t)
        self.x.append(np.array(x))
        self.xd.append(xd)
        for kept, (i, port) in zip(self.values, self.kept.values(), strict=True):
            kept.append(np.array(values[i][port], dtype=float))
        for node in self.sinks:
            node.block.step(t, engine.inputs(node, values))

    def adopt(self, t: Floats, kept: Floats, x: Floats, xd: Floats) -> None:
        """Take over samples made elsewhere: kept (N, all kept signals side by side)."""
        columns, start = [], 0
        for shape in self.shapes:
            stop = start + int(np.prod(shape))
            columns.append(kept[:, start:stop].reshape(len(t), *shape))
            start = stop
        self.adopted = (t, columns, x, xd)

    def ends_at(self, t: float) -> bool:
        """Whether the last kept sample is at t."""
        times = self.times()
        return bool(len(times)) and bool(times[-1] == t)

    def times(self) -> Floats:
        """The times of the samples (N,) [s]."""
        return _joined(self.adopted and self.adopted[0], self.t)

    def signals(self) -> dict[str, NDArray[Any]]:
        """The kept signals by name, (N, ...)."""
        adopted = self.adopted[1] if self.adopted else [None] * len(self.values)
        pairs = zip(self.kept, adopted, self.values, strict=True)
        return {name: _joined(before, samples) for name, before, samples in pairs}

    def states(self, engine: Interpreter) -> dict[str, NDArray[Any]]:
        """The states of every block that has one, (N, nstates)."""
        x, xd = self._state_samples()
        states = {engine.nodes[i].name: x[:, part] for i, part in engine.continuous.items()}
        return states | {engine.nodes[i].name: xd[:, part] for i, part in engine.sampled.items()}

    def _state_samples(self) -> tuple[Floats, Floats]:
        x, xd = (self.adopted[2], self.adopted[3]) if self.adopted else (None, None)
        return _joined(x, self.x), _joined(xd, self.xd)

    def recompute(self, engine: Interpreter, name: str) -> NDArray[Any]:
        """A signal that was not kept, from the kept states; KeyError where there is none."""
        i, port = self.names[name]
        with np.errstate(all="ignore"):
            samples = [
                np.array(engine.outputs(t, x, xd)[i][port], dtype=float)
                for t, x, xd in zip(self.times(), *self._state_samples(), strict=True)
            ]
        return np.array(samples)


def _joined(before: Floats | None, samples: list[Any]) -> Floats:
    if before is None:
        return np.array(samples)
    return np.concatenate([before, np.array(samples)]) if samples else before


def _name(wiring: Wiring, source: Source) -> str:
    return wiring.nodes[source[0]].output_name(source[1])


def signal_names(wiring: Wiring) -> dict[str, Source]:
    """Every output of the diagram by its full name, 'block.port'."""
    return {
        node.output_name(k): (node.index, k)
        for node in wiring.nodes
        for k in range(node.block.nout)
    }


def aliases_of(wiring: Wiring) -> dict[str, str]:
    """Other names: the block alone where it has one output, ports by number, and the
    outputs of subsystems."""
    aliases = {name: _name(wiring, source) for name, source in wiring.outlets.items()}
    for node in wiring.nodes:
        if node.block.nout == 1:
            aliases[node.name] = node.output_name(0)
        for k in range(node.block.nout):
            aliases[f"{node.name}.{k}"] = node.output_name(k)
    return {short: full for short, full in aliases.items() if short != full}


def units_of(wiring: Wiring) -> dict[str, str]:
    """Units by signal, where a port declares one."""
    return {
        node.output_name(k): port.unit
        for node in wiring.nodes
        for k, port in enumerate(node.out_ports)
        if port.unit
    }


def scope_of(node: Node, wiring: Wiring) -> ScopeSpec:
    """What a bdsim 1.4 SCOPE, SCOPEXY or SCOPEXY1 shows."""
    block = node.block
    signals = tuple(_name(wiring, source) for source in node.sources)
    if block.type.startswith("scopexy"):
        scale = None if isinstance(block.scale, str) else tuple(map(float, np.ravel(block.scale)))
        return ScopeSpec(
            node.name,
            "xy",
            signals,
            styles=(block.styles,) if block.styles else None,
            scale=scale,
            xlabel=block.labels[0],
            ylabel=block.labels[1],
            vector=tuple(block.indices) if hasattr(block, "indices") else None,
            equal=block.aspect == "equal",
        )
    get = block.__dict__.get
    scale = get("scale", "auto")
    return ScopeSpec(
        node.name,
        "time",
        signals,
        labels=tuple(get("labels")) if get("labels") else None,
        styles=tuple(get("styles")) if get("styles") else None,
        title=get("title"),
        stairs=bool(get("stairs")),
        scale=None if isinstance(scale, str) else tuple(scale),
        vector=tuple(get("vector")) if isinstance(get("vector"), list) else None,
    )
