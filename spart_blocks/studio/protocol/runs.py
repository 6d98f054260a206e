"""Runs, and loops of `spart realtime`."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from spart_blocks.studio.protocol.problems import Problem


class Run(TypedDict):
    """do: "run" {path, speed, T?, paused?}: speed: times real time, null for as fast as it goes;
    paused: it begins paused at its first instant.
    do: "step" {path, to: "event" | "tick" | "time", clock?, interval?, t?}: on to the next event,
    the next tick of a clock (any without), or by an interval [s], as fast as it goes, then pause;
    t: the time that is shown, from which it is counted.
    do: "moment" {path, run, t, to, clock?, interval?, back?} -> number | null: such an instant of
    the record after t, or before.
    do: "changed" {path, run, t} -> AtInstant: what happened there.
    do: "pause" | "resume" | "stop" {path}; do: "speed" {path, speed}.
    do: "tune" {path, name, text}: from now on, of an ended run from the next one on; do: "keep"
    {path} writes what was tuned -> Changed.
    do: "push" {path, body, force, point?}: force (3,) [N] in the inertial frame on a body from now
    on, by its place among the recording's bodies, its name, or "plant/name"; at a point (3,) [m] in
    the inertial frame (its centre of mass without); zero lets go.
    do: "continue" {path, run, t, speed, T?, states?, tuned?}: a new run from time t of an earlier
    one; states: vectors of blocks in place of what they were, {[block]: number[]}; tuned: {[name]:
    text}.
    do: "states" {path, run, t} -> State[]: what "continue" may replace, as it was at time t.
    do: "pushed" {path, run, t} -> string[]: the plants on which a push acts at time t; "continue"
    begins without it.
    do: "tunables" {path, run} -> Tunable[]: all that "tune" takes; path also "loop:NAME".
    do: "runs" {path} -> Run[].
    do: "values" {path, at, run, t, names?} -> {[signal]: Value}: of the wires of a sheet, or of
    signals by name.
    do: "suggest" {path, run, signal} -> Suggested: claims that hold for a signal of the run.
    do: "signals" {path, run, names, from?, to?} -> binary Rows, thinned for drawing; of a part of
    the run from one time to another, with a row before and after.
    do: "motion" {path, run} -> the recording that viewer/src/recording.ts reads; run null: the
    plants where they start. GET /download?path=&run=&kind=npz|csv|mcap|html|live.html|svg"""

    run: int
    label: str
    state: Literal["preparing", "running", "paused", "ended", "failed"]
    t: float
    start: float
    # None of a loop, which goes on until it is ended.
    T: float | None
    speed: float | None
    # What scopes show first: groups of signals, as the diagram's scopes have them.
    scopes: list[Scope]
    # Everything that can be plotted.
    signals: list[Signal]
    # Values that were tuned, by name. Of an ended run also those for the next one.
    tuned: dict[str, str]
    # Those that differ from the file's values, which these are; null where the file has none. The
    # next run of the file begins with the tuned ones.
    carried: dict[str, str | None]
    # What is left of an earlier run: all of it, or the signals that were kept.
    kept: Literal["whole", "signals"]
    # Where and why it has stopped before its end: "stopped at 3.2 s".
    stopped: str | None
    # What it does instead of stepping: "starting", "tracing", "compiling".
    doing: str | None
    warnings: list[str]
    problem: Problem | None
    clocks: list[RunClock]
    # Why and where it is paused, by a step or a breakpoint.
    paused: Paused | None
    # Of each breakpoint that is enabled: how often it was met, and why it cannot be watched.
    breakpoints: dict[str, Watched]


class RunClock(TypedDict):
    name: str
    # "every 0.1 s".
    text: str


class Paused(TypedDict):
    """t: the instant that is meant [s]; the run itself is there, or at the end of the step of its
    solver. text: what happened, or the values that met the breakpoint."""

    t: float
    why: Literal["start", "event", "tick", "time", "breakpoint"]
    text: str
    condition: str | None


class Watched(TypedDict):
    hits: int
    problem: str | None


class Breakpoint(TypedDict):
    """A condition at which runs pause: "norm(plant.qm) > 1", "modes.state == 'heating'", a number
    for its crossings of zero, or "event(block)".
    do: "breakpoints" {path} -> Breakpoint[]; do: "set-breakpoints" {path, breakpoints} ->
    Breakpoint[]: all of them; kept for the file, and taken by a run that goes on."""

    condition: str
    enabled: bool


class AtInstant(TypedDict):
    """What happened at a time of a run, and what it changed."""

    t: float
    events: list[BlockEvent]
    # The clocks that ticked, as texts.
    ticks: list[str]
    changes: list[Change]
    # Changes that are left out.
    more: int


class BlockEvent(TypedDict):
    block: str
    what: str


class Change(TypedDict):
    """A state that was reset or moved on, the active state of a machine, or an output that jumped.
    name: of the state or the port."""

    kind: Literal["state", "mode", "output"]
    block: str
    name: str
    before: str
    after: str


class Scope(TypedDict):
    """A group of signals that are shown together."""

    title: str
    signals: list[str]


class Signal(TypedDict):
    name: str
    # Of one sample: [] for a number.
    shape: list[int]
    unit: str
    # Labels of the components, where a scope gives them.
    labels: list[str]
    # Names of the components, such as the joints, where they have any.
    entries: list[str]
    # Kept while the run goes on, and so told by "rows".
    live: bool


class State(TypedDict):
    """The state vector of a block at a time."""

    block: str
    values: list[float]
    # Names of its numbers, where they have any.
    labels: list[str]


class Active(TypedDict):
    """do: "active" {path, run, t, block} -> Active[]: the active states of a machine at a time, one
    for each copy where its name has `*`. By region, "state" of the machine itself: their numbers,
    0 for none, and those that were active before the last change, null where none is known."""

    numbers: dict[str, int]
    left: dict[str, int | None]


class Tunable(TypedDict):
    """A parameter that can be changed while a run goes on."""

    name: str
    # As YAML: the value that the run has now, and the one that it began with.
    text: str
    first: str
    unit: str
    doc: str
    # Its bounds, where it has some.
    min: float | None
    max: float | None
    # Of a parameter of the file: those of blocks that take their value from it, such as "ctrl.kp";
    # they are not listed by themselves.
    used: list[str]


class Value(TypedDict):
    text: str
    shape: str
    unit: str
    # "continuous", or the clock with its period.
    rate: str


class SignalWidth(TypedDict):
    """A signal of rows, and how many numbers of each row are its."""

    name: str
    width: int


class Rows(TypedDict):
    """The header of a binary message. Each row is the time and the numbers of all signals in turn.
    n: the request that it answers; without it rows are told as a run goes on."""

    tell: Literal["rows"]
    n: NotRequired[int]
    path: str
    run: int
    signals: list[SignalWidth]
    rows: int
    # Numbers of a row besides its time.
    width: int
    # Of an answer: whether the run has more rows.
    thinned: NotRequired[bool]


class Poses(TypedDict):
    """The header of poses of a running run, for 3-D: each row is the time, then for each body of
    the recording its position (3) and quaternion (4, scalar last)."""

    tell: Literal["poses"]
    path: str
    run: int
    bodies: int
    rows: int


class Loop(TypedDict):
    """do: "loops" -> Loop[]; do: "attach" {loop} -> Run with signals; rows are then told with path
    "loop:NAME"; do: "tune" {path: "loop:NAME", ...}; do: "watch" {loop, names}; do: "detach"."""

    name: str
    pid: int
    diagram: str
