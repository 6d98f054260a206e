"""Makes the problem of a fit from a section: its programs, what is estimated, what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, Place
from spart_blocks.diagram.sections.bounds import Bounds
from spart_blocks.diagram.sections.fit_section import Experiment, FitSection
from spart_blocks.fits.free import Free, Kind, Placed, Placement, entries_of, value_at
from spart_blocks.fits.link_paths import LinkPaths
from spart_blocks.fits.measurements import measured
from spart_blocks.fits.problem import START, Problem, Trial
from spart_blocks.gradients.tangents import Floats
from spart_blocks.gradients.taped_run import explicit
from spart_blocks.program import Program
from spart_blocks.program.added_signals import entries
from spart_blocks.program.slots import Places
from spart_blocks.run.engines.native import Native
from spart_blocks.run.simulate import options_with
from spart_blocks.sweeps.plan.memory_source import FileSource, MemorySource


def problem_of(
    source: FileSource | MemorySource,
    section: FitSection,
    options: Mapping[str, Any],
    *,
    of_file: bool = True,
) -> Problem:
    """The problem of a section. options: run options in place of those of the diagram. of_file:
    whether the experiments stand in the diagram's file, and their files beside it. Raises
    InputError with what is wrong in it; TraceError for a diagram that cannot be traced.
    """
    return _Making(source, section, options, of_file).problem()


class _Making:
    def __init__(
        self,
        source: FileSource | MemorySource,
        section: FitSection,
        options: Mapping[str, Any],
        of_file: bool,
    ) -> None:
        self.source, self.section, self.options = source, section, options
        self.of_file = of_file
        self.free: list[Free] = []
        self.size = 0
        self.paths = [
            *section.parameters,
            *(path for one in section.experiments.values() for path in one.estimate),
        ]
        self.links = LinkPaths(source, self.paths)
        self.overrides = source.matter_overrides([*self.paths, *self.links.quantities], {})
        self.engines: dict[str, Native] = {}

    def problem(self) -> Problem:
        section = self.section
        for name, given in (("parameters", self.paths), ("experiments", section.experiments)):
            if not given:
                hint = "fit: {parameters: {J: [0, 1]}, experiments: {step: {file: step.csv, ...}}}"
                raise InputError(Fault(f"a fit needs {name}", self._place(), hint))
        shared: dict[str, Free] = {}
        trials = []
        for name, experiment in section.experiments.items():
            engine = self._engine(name, experiment)
            placed: list[Placed] = []
            for path, bounds in section.parameters.items():
                place = self._place("parameters", path)
                placed += self._placed(path, bounds, engine, place, shared)
            for path, bounds in experiment.estimate.items():
                place = self._place("experiments", name, "estimate", path)
                placed += self._placed(path, bounds, engine, place, {}, name)
            trials.append(self._trial(name, experiment, engine, placed))
        if all(trial.hold_out for trial in trials):
            raise InputError(Fault("every experiment is held out", self._place("experiments")))
        for trial in trials:
            trial.placement.check_apart()
        count = sum(one.values.size for trial in trials if not trial.hold_out
                    for one in trial.measured)  # fmt: skip
        if count < self.size:
            raise InputError(f"{count} numbers were measured, and {self.size} are estimated")
        return Problem(tuple(self.free), tuple(trials), _supposed(trials))

    def _place(self, *keys: str) -> Place | None:
        return self.source.place("fit", *keys)

    def _path(self, experiment: str, signal: str, file: str) -> Path:
        """The path of a measured signal's file."""
        if not self.of_file or isinstance(self.source, MemorySource):
            return Path(file).expanduser()
        keys = ("fit", "experiments", experiment)
        own = self.section.experiments[experiment].signals[signal].file is not None
        keys = (*keys, *(("signals", signal) if own else ()), "file")
        return self.source.folder_file(file, *keys)

    # --- programs -------------------------------------------------------------------------

    def _engine(self, name: str, experiment: Experiment) -> Native:
        """The engine of an experiment, with what holds in it."""
        base = self._made({})
        values, structural = {}, {}
        for path, value in experiment.set.items():
            found = self.source.find(path, base, {}, self.overrides)
            apart = self.source.structural_values(path, base, {}) if found else frozenset()
            numeric = isinstance(value, int | float | list | tuple)
            if found is None or found.places is None or not numeric or value in [*apart]:
                structural[path] = value
            else:
                values[path] = value
        signals = list(experiment.signals)
        if structural and isinstance(self.source, MemorySource):
            text = f"experiment {name}: {min(structural)} is no parameter of the program"
            raise InputError(Fault(text, hint="fit the file of the diagram, which is read anew"))
        engine = self._made(structural)
        if engine.display.unknown(signals, engine.signals()):
            engine = self._made({**structural, "run.log": signals})
        p = engine.program.p.copy()
        for path, value in values.items():
            found = self.source.find(path, engine, {}, {**self.overrides, **structural})
            assert found is not None
            assert found.places is not None
            found.places.put(p[None], np.asarray(value, float)[None])
        return engine.with_parameters(p)

    def _made(self, overrides: Mapping[str, Any]) -> Native:
        """The engine with these overrides."""
        key = repr(sorted(overrides.items()))
        if key not in self.engines:
            self.engines[key] = self.source.engine({}, {**self.overrides, **overrides})
        return self.engines[key]

    def _places(self, path: str, engine: Native, place: Place | None) -> tuple[Places, ...]:
        """The entries of p that have the value of a path."""
        try:
            found = self.source.find(path, engine, {}, self.overrides)
        except InputError as error:
            raise InputError(replace(f, place=f.place or place) for f in error.faults) from None
        places = () if found is None else tuple(entries_of(found, engine))
        if found is None or not places:
            text = f"{path} is no parameter of the program"
            hint = "numbers of blocks, of params:, initial states and masses can be estimated"
            raise InputError(Fault(text, place, hint))
        return places

    def _trial(
        self,
        name: str,
        experiment: Experiment,
        engine: Native,
        placed: Sequence[Placed],
    ) -> Trial:
        found = measured(name, experiment, self._path, START)
        program = engine.program
        sensors: dict[tuple[int, Kind], Free] = {}
        columns, at = [], 0
        for k, one in enumerate(found):
            place = self._place("experiments", name, "signals", one.signal)
            wanted = _shape(program, one.signal, place)
            if wanted != one.shape and int(np.prod(wanted)) != one.values.shape[1]:
                text = f"{one.signal} has shape {wanted}, its samples have {one.shape}"
                raise InputError(Fault(text, place))
            columns.append(slice(at, at + one.values.shape[1]))
            at += one.values.shape[1]
            if one.bias is not None:
                zero = np.zeros(wanted)
                own = self._added(one.signal, name, "bias", zero, one.bias, place)
                sensors[k, "bias"] = own
            if one.delay is not None:
                zero = np.zeros(())
                sensors[k, "delay"] = self._added(one.signal, name, "delay", zero, one.delay, place)
        end = max(float(one.times[-1]) for one in found)
        early = [free.low.min() for (_, kind), free in sensors.items() if kind == "delay"]
        end -= min(0.0, *early) if np.isfinite(early).all() and early else 0.0
        options = {"T": end, **self.options}
        ready = engine.with_run(explicit(options_with(program.run, options)))
        signals = tuple(one.signal for one in found)
        placement = Placement(tuple(placed))
        return Trial(name, ready, signals, tuple(found), tuple(columns), placement, sensors,
                     experiment.hold_out)  # fmt: skip

    # --- what is estimated ----------------------------------------------------------------

    def _placed(
        self,
        path: str,
        bounds: Bounds,
        engine: Native,
        place: Place | None,
        shared: dict[str, Free],
        experiment: str | None = None,
    ) -> Iterator[Placed]:
        """What a path has searched, with its entries of p. shared: what is searched already, by
        path. experiment: the one to which it belongs, None for all.
        """
        if self.links.names(path):
            for body, places in self.links.bodies(path, bounds, engine, place):
                key = f"{path} {body.link}"
                if key not in shared:
                    start = self.links.start(body, engine.program.p[places[0]], place)
                    shared[key] = self._taken(Free.of_body(body, start, self.size, experiment))
                yield shared[key], places
            return
        places = self._places(path, engine, place)
        now = value_at(engine, places, self.source.written(path, {}))
        if path not in shared:
            shared[path] = self._added(path, experiment, "parameter", now, bounds, place)
        elif shared[path].shape != now.shape:
            shapes = f"{shared[path].shape} and {now.shape}"
            raise InputError(Fault(f"{path} differs in shape: {shapes}", place))
        yield shared[path], places

    def _added(
        self,
        name: str,
        experiment: str | None,
        kind: Kind,
        now: Floats,
        bounds: Bounds,
        place: Place | None,
    ) -> Free:
        return self._taken(Free.of(name, now, bounds, self.size, place, kind, experiment))

    def _taken(self, made: Free) -> Free:
        self.size += len(made.start)
        self.free.append(made)
        return made


def _shape(program: Program, signal: str, place: Place | None) -> tuple[int, ...]:
    try:
        return np.shape(entries(program, signal))
    except InputError as error:
        raise InputError(replace(f, place=f.place or place) for f in error.faults) from None


def _supposed(trials: Sequence[Trial]) -> dict[str, Floats]:
    """The standard deviations of each signal's noise, or of its samples where it is not given."""
    found: dict[str, Floats] = {}
    for one in (one for trial in trials for one in trial.measured):
        sizes = one.spreads if one.sd is None else np.full(one.values.shape[1], one.sd)
        found[one.signal] = np.maximum(sizes, found.get(one.signal, 0.0))
    return found
