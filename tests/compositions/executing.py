"""The executions of a diagram: each gives an outcome of the same shape."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import spart_blocks as sb
from compositions.exporting import compiler, exported
from compositions.files import content_of, opened
from compositions.outcomes import Outcome
from spart_blocks.base.errors import RunError, SpartError
from spart_blocks.run import begin, finish
from spart_blocks.run.measure.gauges import Gauge


def gauged(signals: list[str]) -> list[Gauge]:
    """Metrics of some signals, of every kind that is a number of the whole run."""
    return [Gauge(kind, name) for name in signals[-4:] for kind in ("extremes", "integral")]


def outcome_of(name: str, run: Any, results: Any, error: str = "") -> Outcome:
    final = results.final_state
    readings = {
        f"{gauge.kind}({gauge.signal}).{key}": float(np.ravel(value)[0])
        for gauge, read in run.readings.items()
        for key, value in read.items()
        if key in ("least", "most", "first", "last", "integral", "span")
    }
    return Outcome(
        name,
        np.asarray(results.t),
        {s: np.asarray(v).reshape(len(results.t), -1) for s, v in results.signals.items()},
        tuple((float(e.t), e.block, e.what) for e in results.events),
        {k: np.asarray(v) for part in (final.continuous, final.discrete) for k, v in part.items()},
        readings,
        error,
    )


def ran(name: str, diagram: Any, **options: Any) -> Outcome:
    """A run by `simulate`, with metrics."""
    try:
        run = begin(diagram, **options)
        if run.options.every is None:
            run.measure(gauged(list(diagram.run.log)))
        return outcome_of(name, run, finish(run))
    except RunError as error:
        if error.results is None or not len(error.results.t):
            return Outcome(name, error=str(error))
        return outcome_of(name, run, error.results, str(error))


def interpreted(path: Path, **options: Any) -> Outcome:
    return ran("interpreter", opened(path), engine="interpreter", **options)


def traced(path: Path, **options: Any) -> Outcome:
    """The native engine without a compiler."""
    with compiler(False):
        return ran("traced", opened(path), engine="native", **options)


def compiled(path: Path, **options: Any) -> Outcome:
    with compiler(True):
        return ran("compiled", opened(path), engine="native", **options)


def split(path: Path, **options: Any) -> Outcome:
    """Two runs, the second from the final state of the first; the cut is at an instant of the
    lattice or between two."""
    diagram = opened(path)
    T = Fraction(repr(float(diagram.run.T)))
    clocks = content_of(path).get("clocks", {})
    base = min((Fraction(repr(float(c["T"]))) for c in clocks.values() if "T" in c), default=T / 7)
    cut = float(base * int(T / 2 / base)) or float(T / 2)
    if int(T / base) % 2:
        cut = float(Fraction(repr(cut)) + base / 3)
    with compiler(False):
        first = sb.simulate(diagram, T=cut, engine="native", **options)
        begun = begin(diagram, engine="native", initial=first.final_state, **options)
        second = outcome_of("split", begun, finish(begun))
    every = options.get("every")
    kept = slice(None)  # a row between those of the grid is of no other run
    if every is not None and Fraction(repr(cut)) % Fraction(repr(every)):
        kept = slice(-1)
    rows = np.concatenate([np.asarray(first.t)[kept], second.t[1:]])
    signals = {
        s: np.concatenate([np.asarray(first[s]).reshape(len(first.t), -1)[kept], v[1:]])
        for s, v in second.signals.items()
    }
    events = tuple((float(e.t), e.block, e.what) for e in first.events)
    events += tuple(e for e in second.events if e not in events)
    return Outcome("split", rows, signals, events, second.final)


def faults(path: Path, **options: Any) -> Outcome:
    """The run of a sweep, with a fault that sets a value to what it is: a tick, an edge or neither
    is at its time. Its metrics are those of the run."""
    diagram = opened(path)
    at = float(Fraction(repr(float(diagram.run.T))) / 2)
    log = list(diagram.run.log)[-4:]
    metrics = {}
    for k, name in enumerate(log):
        signal = name if "." in name or "[" in name else f"{name}"
        metrics[f"most{k}"], metrics[f"integral{k}"] = f"most({signal})", f"integral({signal})"
        metrics[f"final{k}"], metrics[f"least{k}"] = f"final({signal})", f"least({signal})"
    values = {
        f"{name}.{key}": block[key]
        for name, block in content_of(path)["blocks"].items()
        for key in ("K", "amplitude", "gain")
        if isinstance(block.get(key), float)
    }
    found = {"same": {"at": at, "set": dict(list(values.items())[:1])}} if values else {}
    swept = sb.sweep(path, faults=found, metrics=metrics, **options)
    keys = {"most": "extremes({}).most", "least": "extremes({}).least",
            "integral": "integral({}).integral", "final": "extremes({}).last"}  # fmt: skip
    readings = {
        keys[kind].format(name): float(swept[f"{kind}{k}"][-1])
        for k, name in enumerate(log)
        for kind in keys
    }
    return Outcome("faults", readings=readings)


def lanes(path: Path, **options: Any) -> Outcome:
    """A run in lanes: its end and its metrics."""
    from spart_blocks.measures.work import Work, joined
    from spart_blocks.sweeps.run import lanes as running

    with compiler(True):
        program = sb.trace(path)
        gauges = gauged(list(program.run.log))
        p = np.vstack([program.p] * 3)
        work = Work(program, np.arange(3), p, tuple(gauges))
        why = running.refusal(work)
        if why is not None:
            return Outcome("lanes", error=f"refused: {why}")
        done = joined(list(running.run(work, lanes=4, threads=1)))
    readings = {
        f"{gauge.kind}({gauge.signal}).{key}": float(np.ravel(value[0])[0])
        for gauge, read in done.readings.items()
        for key, value in read.items()
        if key in ("least", "most", "first", "last", "integral", "span")
    }
    final = {"x": np.asarray(done.x[0]), "xd": np.asarray(done.xd[0])}
    return Outcome("lanes", readings=readings, final=final)


def web(path: Path, **options: Any) -> Outcome:
    """The WebAssembly of a page: its end, and as an error a bit that is not a lane's."""
    from spart_blocks.web.executed import Executed, differing
    from spart_blocks.web.runnable import Runnable

    with compiler(True):
        try:
            made = Runnable.of(opened(path))
        except SpartError as error:
            return Outcome("web", error=f"refused: {error}")
        ran = Executed(made).run()
        wrong = differing(made, ran)
    if wrong is not None:
        return Outcome("web", error=f"bits: {wrong}")
    x, xd = np.split(ran.rows[-1], [len(made.program.x0)])
    return Outcome("web", final={"x": x, "xd": xd} if ran.status == "complete" else {})


EXPORTS = ("c", "loop", "fmu3", "fmu2")

WAYS: dict[str, Callable[..., Outcome]] = {
    "interpreter": interpreted,
    "traced": traced,
    "split": split,
    "compiled": compiled,
    "lanes": lanes,
    "web": web,
    "faults": faults,
    **{way: partial(exported, way) for way in EXPORTS},
}


def executed(way: str, path: Path, every: float | None = None) -> Outcome:
    """An execution, its failure told as its error, and what it took. every: a grid of rows instead
    of both sides of every instant, which is quicker."""
    start = time.perf_counter()
    options = {} if every is None or way in EXPORTS else {"every": every}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = WAYS[way](path, **options)
        except SpartError as error:
            found = Outcome(way, error=f"{type(error).__name__}: {error}")
    return Outcome(**{**found.__dict__, "seconds": time.perf_counter() - start})
