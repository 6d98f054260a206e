"""The values of signals at one time of a run, as shown on wires."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count
from typing import Any

import numpy as np

from spart_blocks.base.errors import InputError
from spart_blocks.base.paths import select, split_index
from spart_blocks.diagram.network.clocks import Clock
from spart_blocks.program.program import Program
from spart_blocks.results import Results
from spart_blocks.run.engines.engine import Engine, Floats
from spart_blocks.run.engines.native import Native
from spart_blocks.run.states import vectors_of
from spart_blocks.studio.runs.record import MOST_NAMES, RecordPart

_MOST_SHOWN = 6


def names_at(engine: Engine, at: str) -> list[str]:
    """The signals of sheet `at` ("" for the top sheet), and the outputs of its subsystems."""
    prefix = f"{at}/" if at else ""
    names = dict.fromkeys([*engine.signals(), *engine.display.aliases])
    here = [n for n in names if n.startswith(prefix) and "/" not in n.removeprefix(prefix)]
    return [n for n in here if "=0" not in n and not n.rpartition(".")[2].isdecimal()][:MOST_NAMES]


def values_at(
    parts: Sequence[RecordPart], t: float, names: Iterable[str], rates: Mapping[str, str]
) -> dict[str, Any]:
    """The values of signals at t [s], as texts with shape, unit and rate. Values between rows are
    interpolated linearly, or held if the signal changes only at ticks. Unknown signals are left
    out."""
    known = [one for one in parts if len(one.results.t)]
    if not known:
        return {}
    part = [one for one in known if one is known[0] or one.results.t[0] <= t][-1]
    results = part.results
    k = int(np.clip(np.searchsorted(results.t, t, side="right") - 1, 0, len(results.t) - 1))
    after = min(k + 1, len(results.t) - 1)
    length = float(results.t[after] - results.t[k])
    share = min(max((t - float(results.t[k])) / length, 0.0), 1.0) if length > 0 else 0.0
    held, found = _held(results), {}
    asked = {name: split_index(name) for name in names}
    copies = _copies(part.engine, [base for base, _ in asked.values()])
    pairs = _pairs(part, [k, after], dict.fromkeys(chain.from_iterable(copies.values())))
    for name, (base, index) in asked.items():
        every = [pairs[one] for one in copies[base] if one in pairs]
        if not every:
            continue
        try:
            every = [select(name, one, index) for one in every]
            several = np.stack(every, axis=1)
        except (InputError, ValueError):
            continue
        whole = results.aliases.get(copies[base][0], copies[base][0])
        s = 0.0 if whole in held else share
        both = several if "*" in base else every[0]
        value = both[0] if s == 0.0 else (1 - s) * both[0] + s * both[1]
        size = "×".join(map(str, every[0].shape[1:]))
        found[name] = {
            "text": text_of(value),
            "shape": f"{len(every)} copies{size and f' of {size}'}" if "*" in base else size,
            "unit": results.unit(whole),
            "rate": rates.get(whole, "continuous"),
        }
    return found


def _copies(engine: Engine, names: Iterable[str]) -> dict[str, list[str]]:
    """For each name the signals that it means: itself, or one for each copy if it has `*` for the
    number of a copy."""
    names = list(names)
    if not any("*" in name for name in names):
        return {name: [name] for name in names}
    known = {*engine.signals(), *engine.display.aliases}

    def numbered(name: str) -> list[str]:
        if "*" not in name:
            return [name] if name in known else []
        found: list[str] = []
        for k in count():
            more = numbered(name.replace("*", str(k), 1))
            if not more:
                return found
            found += more
        raise AssertionError

    return {name: numbered(name) if "*" in name else [name] for name in names}


def _held(results: Results) -> set[str]:
    """The signals that must be held between rows: those that change only at ticks, if the record
    has samples only."""
    if results.info.get("record") != "samples":
        return set()
    return {
        name
        for scope in results.scopes
        for name, held in zip(scope.signals, scope.held, strict=False)
        if held
    }


def _pairs(part: RecordPart, rows: list[int], names: Iterable[str]) -> dict[str, Floats]:
    """The signals at two rows, (2, ...) each: kept values, or computed from the states there."""
    results, engine = part.results, part.engine
    found: dict[str, Floats] = {}
    others: list[str] = []
    for name in names:
        whole = results.aliases.get(name, name)
        if whole in results.signals:
            found[name] = results.signals[whole][rows]
        else:
            others.append(name)
    if not others:
        return found
    states = {name: array[rows] for name, array in results.states.items()}
    x, xd = vectors_of(engine, states, 2)
    t = results.t[rows]
    with np.errstate(all="ignore"):
        if isinstance(engine, Native):
            y = np.array([engine.outputs(float(t[i]), x[i], xd[i]) for i in range(2)])
            for name in others:
                slot = engine.slot.get(results.aliases.get(name, name))
                if slot is not None:
                    found[name] = y[:, slot.part].reshape(2, *slot.shape)
        else:
            known = set(engine.signals())
            wholes = {n: results.aliases.get(n, n) for n in others}
            wholes = {n: whole for n, whole in wholes.items() if whole in known}
            values = engine.over(list(wholes.values()), t, x, xd)
            found |= dict(zip(wholes, values, strict=True))
    return found


def text_of(value: Any) -> str:
    """A value as a short text: a number, a vector, or shape and largest magnitude of a larger
    array."""
    array = np.asarray(value)
    if array.ndim == 0:
        return f"{float(array) + 0.0:.5g}"
    if array.size > _MOST_SHOWN:
        largest = np.abs(array).max(initial=0.0)
        return f"{'×'.join(map(str, array.shape))}, largest {largest:.4g}"
    if array.ndim == 1:
        return f"[{', '.join(f'{one + 0.0:.4g}' for one in array)}]"
    return f"[{', '.join(map(text_of, array))}]"


def rates_of(engine: Engine) -> dict[str, str]:
    """For each signal that is not continuous: the period of its clock as text, or "constant"."""
    clocks = {block: clock for clock in engine.clocks for block in clock.blocks}
    if isinstance(engine, Native):
        return _rates_of_program(engine.program, clocks)
    found = {}
    for name in engine.signals():
        clock = clocks.get(name) or clocks.get(name.rpartition(".")[0])
        if clock is not None:
            found[name] = clock_text(clock)
    return found


def _rates_of_program(program: Program, clocks: Mapping[str, Clock]) -> dict[str, str]:
    """As `rates_of`, from what each output of a program depends on: time and continuous states,
    discrete states, or neither."""
    outputs = program.outputs
    moving, discrete = np.zeros(outputs.numel_out(0), dtype=bool), {}
    for argument in (0, 1):
        moving[outputs.jac_sparsity(0, argument).get_triplet()[0]] = True
    rows, columns = map(np.array, outputs.jac_sparsity(0, 2).get_triplet())
    for slot in program.discrete:
        one = np.zeros(len(moving), dtype=bool)
        inside = (columns >= slot.part.start) & (columns < slot.part.stop) if len(columns) else []
        one[rows[inside] if len(rows) else []] = True
        clock = clocks.get(slot.name)
        discrete[slot.name] = (one, clock_text(clock) if clock else "sampled")
    found = {}
    for slot in program.signals:
        if moving[slot.part].any():
            continue
        texts = {text for one, text in discrete.values() if one[slot.part].any()}
        found[slot.name] = ", ".join(sorted(texts)) or "constant"
    return found


def clock_text(clock: Clock) -> str:
    """The period of a clock, and its offset, as text."""
    offset = f" from {float(clock.offset):g} s" if clock.offset else ""
    return f"every {float(clock.period):g} s{offset}"
