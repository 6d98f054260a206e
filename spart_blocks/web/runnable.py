"""A program as WebAssembly, with what a page needs to run it: parameters, signals, bodies."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import casadi as ca
import numpy as np

from spart_blocks.animation.body_curves import frames_of
from spart_blocks.animation.meshes import MeshStore
from spart_blocks.animation.packed import plain
from spart_blocks.animation.plants import Moving, moving_of
from spart_blocks.animation.recording import body_of, drawing, scene_reach
from spart_blocks.animation.shapes import Looks, looks_of
from spart_blocks.base.errors import DiagramError, Fault, InputError
from spart_blocks.diagram import Diagram
from spart_blocks.diagram.build.companions import AUDIT
from spart_blocks.measures.work import Done, Work
from spart_blocks.program import Program
from spart_blocks.program.c.compiler import wasm_module
from spart_blocks.program.c.text import macros
from spart_blocks.program.exact_values import OPERATION_NAMES, instructions
from spart_blocks.program.linearised import can_linearise
from spart_blocks.program.program import Slot
from spart_blocks.program.subdiagram import declared_bounds, is_link
from spart_blocks.program.tracing.gains import wired
from spart_blocks.program.tracing.symbol import column_of, scalars
from spart_blocks.program.tracing.trace import traced
from spart_blocks.run.measure.gauges import Gauge
from spart_blocks.sweeps.run import lanes
from spart_blocks.sweeps.run.lane_setup import LaneSetup
from spart_blocks.sweeps.run.lane_source import refused, source
from spart_blocks.web.claims import PageClaim, claims_of

FORMAT = 1
ROWS, MOST_ROWS = 1000, 20_000
"""Rows of a run by default, and at most."""
MOST_SHOWN = 400
"""Numbers of signals that a page shows; those that a run keeps go first."""
NEEDS = (
    "its states slide along a surface or switch too fast, it takes too many steps, or "
    "a block refuses its inputs; sb.simulate does, and says which"
)
MOST_STIFF = 1_000_000
"""Longest C [characters] of what is added to a page for stiff runs: 60 kB of the page."""
EXPORTS = ("sb_room", "sb_run", "sb_show", "sb_edges")
ENTRY = "web/c/page.c"


@dataclass(frozen=True, eq=False)
class Runnable:
    """A diagram that a page can run. shown: the signals of a page, in its order. bounds: what
    blocks take for their parameters.
    """

    diagram: Diagram
    work: Work
    setup: LaneSetup
    plants: tuple[tuple[Moving, Looks], ...]
    meshes: MeshStore
    shown: tuple[Slot, ...]
    claims: tuple[PageClaim, ...]
    bounds: Mapping[str, tuple[float, float]]

    @staticmethod
    def of(diagram: Diagram, program: Program | None = None) -> Runnable:
        """program: of the diagram, if it is traced already. Raises InputError with the reason if a
        page cannot run it: TraceError for a block that is no expression, DiagramError for links.
        """
        wiring = wired(diagram)
        _refuse_links(diagram, [node.name for node in wiring.nodes if is_link(node)])
        program = program or traced(diagram, wiring)
        claims = tuple(claims_of(diagram, program))
        store = MeshStore()
        plants = [(one, looks_of(one.robot, store, one.start())) for one in moving_of(wiring.nodes)]
        work = _work(program, tuple(claim.gauge for claim in claims))
        work, setup = _ready(work)
        shown = tuple(_shown(work.program))
        values = {slot.name: program.p[slot.part] for slot in program.parameters}
        bounds = dict(declared_bounds(wiring, range(len(wiring.nodes)), values))
        return Runnable(diagram, work, setup, tuple(plants), store, shown, claims, bounds)

    @property
    def program(self) -> Program:
        return self.work.program

    def reference(self, p: Any = None) -> Done:
        """The same run in one lane of a native library: what the page must give, bit by bit. p:
        parameters, by default the nominal ones.
        """
        work = self.work if p is None else replace(self.work, p=np.array([p], dtype=float))
        return next(iter(lanes.run(work, threads=1, lanes=1)))

    @cached_property
    def when_stiff(self) -> Runnable | None:
        """The same by an implicit method, for runs that become stiff after a slider was moved; None
        if it has such a method already, or its derivatives would not fit into a page.
        """
        made = self.setup.made
        assert made is not None
        program = self.setup.for_stiff_runs
        explicit = self.setup.numbers["heeds_stiffness"] and made.method.implicit is None
        if not explicit or not can_linearise(program):
            return None
        work = replace(self.work, program=program)
        setup = LaneSetup.of(work)
        assert setup.made is not None
        if refused(setup.made) is not None:
            return None
        found = replace(self, work=work, setup=setup)
        return found if len(found.c_text) <= MOST_STIFF else None

    # --- the module ---------------------------------------------------------------------

    @cached_property
    def module(self) -> bytes:
        """The WebAssembly module. Raises NoCompilerError without the package ziglang."""
        return wasm_module(self.c_text, EXPORTS)

    @cached_property
    def c_text(self) -> str:
        """The C of the module."""
        made = self.setup.made
        assert made is not None
        arguments, names = self.program.outputs.sx_in(), ["t", "x", "xd", "p"]
        column = ca.densify(ca.vertcat(self._signals(arguments), *self._frames(arguments[1])))
        more = {"program_shown": ca.Function("shown", arguments, [column], names, ["y"])}
        if self.program.switching:
            edges = ca.densify(ca.SX(self.program.edges(arguments[3])))
            more["program_edges"] = ca.Function("edges", arguments, [edges], names, ["y"])
        sizes = {"SB_PAGE_WIDTH": column.numel(), "SB_PAGE_EDGES": len(self.program.switching)}
        return macros(sizes) + "\n" + source(made, 1, more, ENTRY)

    def _signals(self, arguments: Sequence[Any]) -> Any:
        whole = self.program.outputs(*arguments)
        return ca.vertcat(*(whole[slot.part] for slot in self.shown))

    def _frames(self, x: Any) -> Iterator[Any]:
        """The frames (3, 4) of all bodies, each row by row, of states x."""
        places = {slot.name: slot.part for slot in self.program.states}
        for plant, seen in self.plants:
            links = [body.link for body in seen.bodies]
            state = scalars(x[places[plant.name]])
            frames = frames_of(state, plant.robot, links, plant.state, plant.base)
            yield ca.SX(column_of(frames))

    # --- the data -----------------------------------------------------------------------

    @cached_property
    def data(self) -> dict[str, Any]:
        """What a page needs besides the module, as data for JSON. Numbers in SI units."""
        program, numbers = self.program, self.setup.numbers
        ticks, due = self.setup.ticks
        made = self.setup.made
        assert made is not None
        keys = ("end", "rtol", "atol", "max_step", "fixed_step", "coarse")
        return {
            "format": FORMAT,
            "name": program.name,
            "start": float(self.setup.begun.start),
            "numbers": [min(float(numbers[key]), 1e300) for key in keys],
            "heeds_stiffness": bool(numbers["heeds_stiffness"]),
            "p": program.p.tolist(),
            "x0": self._starts(program.states),
            "xd0": self._starts(program.discrete),
            "ticks": {"t": plain(ticks), "due": plain(due)},
            "edges": self._edges(),
            "samples": plain(self.setup.samples),
            "meters": made.meters.numbers,
            "events": len(made.blocks),
            "parameters": list(self._parameters()),
            "signals": list(self._shown_data()),
            "scopes": [{"title": scope.title or scope.name} for scope in program.display.scopes],
            "bodies": self._bodies(),
            "meshes": self.meshes.packed(),
            "reach": self._reach,
            "diagram": drawing(self.diagram),
            "claims": [claim.data(made.meters) for claim in self.claims],
        }

    def _edges(self) -> dict[str, Any]:
        """The function that gives known times of switches, for exact fractions in the page."""
        if not self.program.switching:
            return {"count": 0, "steps": []}
        steps = [
            [OPERATION_NAMES[operation], ins, outs, value if math.isfinite(value) else None]
            for operation, ins, outs, value in instructions(self.program.edges)
        ]
        return {"count": self.program.edges.numel_out(0), "steps": steps}

    def _starts(self, slots: Sequence[Slot]) -> list[int]:
        """For each state the place of its initial value in p; -1 for zero."""
        places = {slot.name: slot.part for slot in self.program.parameters}
        found = [-1] * (slots[-1].part.stop if slots else 0)
        for slot in slots:
            if slot.name in self.program.start:
                part = places[self.program.start[slot.name]]
                found[slot.part] = range(part.start, part.stop)
        return found

    def _parameters(self) -> Iterator[dict[str, Any]]:
        """The parameters that a page lets the user move: those of the file first, then those of
        blocks that take no value from them, then initial states.
        """
        program, declared = self.program, self.diagram.declared
        given = program.given
        starts, used = set(program.start.values()), set(chain(*given.values()))
        hidden = {start for block, start in program.start.items() if self._is_inner(block)}
        own = [s.name for s in program.parameters if s.name not in used and s.name not in hidden]
        for name in (*given, *sorted(own, key=lambda one: one in starts)):
            places = program.parameter_places(name)
            slots = given.get(name, (name,))
            units = (program.display.units.get(slot, "") for slot in slots)
            one = declared.get(name)
            ranges = [self.bounds[slot] for slot in slots if slot in self.bounds]
            ranges += [] if one is None else [one.range]
            low = max((least for least, _ in ranges), default=-math.inf)
            high = min((most for _, most in ranges), default=math.inf)
            yield {
                "name": name,
                "places": [place.ravel().tolist() for place in places],
                "shape": list(places[0].shape),
                "unit": next(filter(None, units), ""),
                "doc": "" if one is None else one.doc or "",
                "min": low if math.isfinite(low) else None,
                "max": high if math.isfinite(high) else None,
                "start": name in starts,
                "labels": list(self._labels(name)),
            }

    def _is_inner(self, block: str) -> bool:
        """Whether the initial state of a block is none of the user's: of an audit, of an output
        that is held, of a random sequence.
        """
        held = any(hold.is_added and hold.name == block for hold in self.program.holds)
        return block.endswith(AUDIT) or held or block in self.program.random

    def _labels(self, name: str) -> Sequence[str]:
        """The names of the entries of an initial state, where its block names them."""
        block = next((b for b, start in self.program.start.items() if start == name), None)
        return () if block is None else self.program.display.states.get(block, ())

    def _shown_data(self) -> Iterator[dict[str, Any]]:
        display, at = self.program.display, 0
        kept = set(_kept(self.program))
        for slot in self.shown:
            count = math.prod(slot.shape)
            yield {
                "name": slot.name,
                "unit": display.units.get(slot.name, ""),
                "labels": list(display.entries.get(slot.name, ())),
                "at": at,
                "kept": slot.name in kept,
                "count": count,
                "scopes": [k for k, one in enumerate(display.scopes) if slot.name in one.signals],
            }
            at += count

    def _bodies(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for plant, seen in self.plants:
            first = len(found)
            found += [body_of(body, plant.robot, plant.name, first) for body in seen.bodies]
        return found

    @property
    def _reach(self) -> float:
        if not self.plants:
            return 1.0
        bases = [plant.start()[1] for plant, _ in self.plants]
        return scene_reach(bases, [seen for _, seen in self.plants])


def _refuse_links(diagram: Diagram, links: Sequence[str]) -> None:
    if links:
        text = f"{', '.join(links[:5])}: a page has no connections, so links cannot be in it"
        hint = "export a diagram without links, or replace them by sources"
        raise DiagramError(Fault(text, hint=hint))


def _work(program: Program, gauges: tuple[Gauge, ...]) -> Work:
    span = float(program.run.T)
    every = program.run.every
    every = span / ROWS if every is None else max(float(every), span / MOST_ROWS)
    return Work(program, np.arange(1), program.p[None], gauges=gauges, every=every)


def _ready(work: Work) -> tuple[Work, LaneSetup]:
    """The setup of the run, by an implicit method if the run is stiff. Raises InputError."""
    setup = LaneSetup.of(work)
    why = setup.refusal or lanes.why_handed_back(setup, work)
    if why == lanes.STIFF_RUN:
        work = replace(work, program=setup.for_stiff_runs)
        setup = LaneSetup.of(work)
        why = setup.refusal or lanes.why_handed_back(setup, work)
    if why is not None:
        text = why if isinstance(why, str) else NEEDS
        raise InputError(Fault(f"{work.program.name} cannot run in a page: {text}"))
    return work, setup


def _kept(program: Program) -> list[str]:
    """The signals that a run keeps."""
    return program.display.kept(program.run.log, [slot.name for slot in program.signals])


def _shown(program: Program) -> Iterator[Slot]:
    """The signals of a page: those that a run keeps, then all others, while there is room."""
    slots = {slot.name: slot for slot in program.signals}
    room = MOST_SHOWN
    others = (name for name in slots if ".audit." not in name and "=0" not in name)
    for name in dict.fromkeys((*_kept(program), *others)):
        slot = slots.get(name)
        size = 0 if slot is None else math.prod(slot.shape)
        if slot is not None and 0 < size <= room:
            room -= size
            yield slot
