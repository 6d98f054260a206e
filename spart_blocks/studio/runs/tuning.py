"""Parameters that are set while a run goes on: without a new trace where the program has them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from spart_blocks.base.document import parse_value, read_document
from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.results.signal_names import select, split_index
from spart_blocks.run.engines.engine import Engine, Floats
from spart_blocks.run.engines.from_file import DiagramFile
from spart_blocks.run.engines.native import Native
from spart_blocks.run.simulate import begin


@dataclass(frozen=True)
class Tuned:
    """An engine with the values that were set.

    file, stamp: what the run was made of; options: those of the run. texts: by name, as they were
    given. values: those of parameters of the program, whole. overrides: those that needed a new
    trace. extended: gives an engine of the file what this one has more, such as wrenches.
    """

    engine: Engine
    file: DiagramFile
    stamp: tuple[int, int]
    options: Mapping[str, Any]
    texts: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    overrides: Mapping[str, str] = field(default_factory=dict)
    extended: Callable[[Engine], Native] | None = None


def tuned(before: Tuned, name: str, text: str) -> Tuned:
    """An engine with a parameter set, by the name that `--set` takes or that `tunables` lists;
    text: its value as YAML. Raises InputError, DiagramError."""
    value = parse_value(text, name)
    found = _parameter(before, _short(name))
    name = _users(before).get(_short(name), name)
    texts = {**before.texts, name: text}
    if found is None or not _is_numeric(value):
        return _retraced(replace(before, texts=texts), name, text)
    engine = before.engine
    assert isinstance(engine, Native)
    whole, index = found
    new = _with_elements(engine, whole, index, value, name)
    program = engine.program.with_parameters({whole: new})
    values = {**before.values, whole: new}
    return replace(before, engine=engine.with_parameters(program.p), texts=texts, values=values)


def needs_trace(before: Tuned, name: str, text: str) -> bool:
    """Whether a parameter can be set by a new trace alone, which takes its time."""
    return _parameter(before, _short(name)) is None or not _is_numeric(parse_value(text, name))


def _short(name: str) -> str:
    return name.removeprefix("params.").removeprefix("blocks.")


def stamp_of(file: DiagramFile) -> tuple[int, int]:
    """What changes when a file is written."""
    found = file.path.stat()
    return found.st_mtime_ns, found.st_size


def check_unchanged(setting: Tuned) -> None:
    """Raise InputError if the file of a run has been changed, where its blocks are needed."""
    if stamp_of(setting.file) != setting.stamp:
        text = "the file has been changed since this run began"
        raise InputError(Fault(text, hint="run it again, or continue it from a time"))


def tunables(engine: Engine) -> list[str]:
    """The parameters that are set without a new trace; initial states are not among them."""
    if not isinstance(engine, Native):
        return []
    starts = set(engine.program.start.values())
    names = [slot.name for slot in engine.program.parameters if slot.name not in starts]
    return [*names, *engine.program.given]


def listed(setting: Tuned) -> dict[str, list[str]]:
    """The parameters as a person sees them, those of the file first, each with those of blocks
    that take their value from it; these are not listed by themselves."""
    known = tunables(setting.engine)
    users: dict[str, list[str]] = {}
    for user, name in {**_references(setting.file), **_users(setting)}.items():
        users.setdefault(name, []).append(user)
    own = read_document(setting.file.path).data.get("params")
    rank = {name: k for k, name in enumerate(own if isinstance(own, dict) else ())}
    shown = set(known) - set(_users(setting))
    names = sorted(filter(shown.__contains__, known), key=lambda name: rank.get(name, len(rank)))
    return {name: users.get(name, []) for name in names}


def _users(setting: Tuned) -> dict[str, str]:
    """Parameters of blocks that have the value of one of the file's, which is tuned for them."""
    engine = setting.engine
    given = engine.program.given if isinstance(engine, Native) else {}
    return {slot: name for name, slots in given.items() for slot in slots}


def text_now(engine: Native, name: str) -> str:
    """The value of a parameter as YAML."""
    return json.dumps(_plain(engine.program.parameter(name).tolist()))


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return int(value) if float(value).is_integer() and abs(value) < 1e15 else value


def _parameter(before: Tuned, name: str) -> tuple[str, str | None] | None:
    """A parameter of the program and the index of its elements; of `kp: $kp` the file's kp."""
    known = tunables(before.engine)
    if not known:
        return None
    base, index = (name, None) if name in known else split_index(name)
    if base in known:
        return base, index
    shared = _references(before.file).get(base, "")
    return (shared, index) if shared in known else None


def _references(file: DiagramFile) -> dict[str, str]:
    """The parameters of blocks that the file gives the value of one of its own, with that."""
    sections = read_document(file.path).data.get("blocks")
    return {
        f"{block}.{attribute}": value[1:]
        for block, section in (sections.items() if isinstance(sections, dict) else ())
        for attribute, value in (section.items() if isinstance(section, dict) else ())
        if isinstance(value, str) and value.startswith("$")
    }


def _is_numeric(value: Any) -> bool:
    try:
        return np.asarray(value).dtype.kind in "fiu"
    except ValueError:
        return False


def _with_elements(engine: Native, whole: str, index: str | None, value: Any, name: str) -> Floats:
    """The new value of a parameter, in its shape."""
    now = engine.program.parameter(whole)
    changed: Floats = np.array(now)
    try:
        if index is None:
            changed[...] = np.asarray(value, dtype=float)
        else:
            select(name, changed[None], index)[...] = value
    except ValueError:
        shape = "a number" if not now.shape else f"{' x '.join(map(str, now.shape))} numbers"
        raise InputError(f"{name} takes {shape}") from None
    if not np.isfinite(changed).all():
        raise InputError(f"{name} takes finite numbers")
    return changed


def _retraced(before: Tuned, name: str, text: str) -> Tuned:
    """The engine of the file with one more override, and the values that were set before."""
    check_unchanged(before)
    overrides = {**before.overrides, name: text}
    more = tuple(f"{key}={value}" for key, value in overrides.items())
    file = replace(before.file, overrides=(*before.file.overrides, *more))
    try:
        engine = begin(file, **before.options).engine
    except InputError as error:
        hint = did_you_mean(name, tunables(before.engine))
        if hint and error.faults[0].hint is None:
            raise InputError(Fault(error.faults[0].message, hint=hint)) from None
        raise
    if before.extended is not None:
        engine = before.extended(engine)
    if isinstance(engine, Native) and before.values:
        program = engine.program.with_parameters(before.values)
        engine = engine.with_parameters(program.p)
    return replace(before, engine=engine, overrides=overrides)
