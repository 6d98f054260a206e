"""Parameters that are set while a run goes on: without a new trace where the program has them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from spart_blocks.base.document import parse_value, read_document
from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.base.paths import named, select
from spart_blocks.program.parameter_paths import Target, standing_of, target_of_name
from spart_blocks.program.program import Program
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
    target = _target(before, name, value)
    name = _users(before).get(_short(name), name)
    texts = {**before.texts, name: text}
    if target is None:
        return _retraced(replace(before, texts=texts), name, text)
    engine = before.engine
    assert isinstance(engine, Native)
    engine = engine.with_parameters(_with_value(engine, target, value, name))
    whole = {slot: engine.program.parameter(slot) for slot in target.slots}
    return replace(before, engine=engine, texts=texts, values={**before.values, **whole})


def needs_trace(before: Tuned, name: str, text: str) -> bool:
    """Whether a parameter can be set by a new trace alone, which takes its time."""
    return _target(before, name, parse_value(text, name)) is None


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


def _target(before: Tuned, name: str, value: Any) -> Target | None:
    """The entries of p that have the value of a name; None where it needs a new trace. Of
    `kp: $kp` they are those of the file's kp."""
    if not isinstance(before.engine, Native) or not _is_numeric(value):
        return None
    program, known = before.engine.program, tunables(before.engine)
    base, index = named(_short(name), known)
    if base not in known:
        base = _references(before.file).get(base, base)
    target = _standing(program, base)
    starts = set(program.start.values())
    if target is None or starts & set(target.slots) or np.isin(value, list(target.apart)).any():
        return None
    places = tuple(np.asarray(select(name, one[None], index)[0]) for one in target.places)
    return replace(target, places=places)


def _standing(program: Program, name: str) -> Target | None:
    """The entries of p of a path of the file, or of a parameter's own name."""
    keys = tuple(name.split("."))
    for path in (("params", *keys), ("blocks", *keys)):
        standing = standing_of(program, path)
        if standing is not None and not standing.starts and standing.target is not None:
            return standing.target
    of_file = ("params", *keys[:1]) in program.origins
    return None if of_file else target_of_name(program, name)


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


def _with_value(engine: Native, target: Target, value: Any, name: str) -> Floats:
    """The parameters with another value of some."""
    p: Floats = engine.program.p.copy()
    new = np.asarray(value, dtype=float)
    for place, sign in target.signed:
        try:
            p[place] = sign * np.broadcast_to(new, place.shape)
        except ValueError:
            shape = (
                "a number" if not place.shape else f"{' x '.join(map(str, place.shape))} numbers"
            )
            raise InputError(f"{name} takes {shape}") from None
    if not np.isfinite(new).all():
        raise InputError(f"{name} takes finite numbers")
    return p


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
