"""Sets parameters during a run. A new trace is made only if the program does not have the
parameter."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from spart_blocks.base.document import mapping_at, parse_value, read_document
from spart_blocks.base.errors import Fault, InputError, SpartError, did_you_mean
from spart_blocks.base.paths import named
from spart_blocks.diagram.sections.declarations import Declaration, declarations_of
from spart_blocks.program.parameter_paths import target_at
from spart_blocks.program.slots import Target
from spart_blocks.run.engines.engine import Engine, Floats
from spart_blocks.run.engines.from_file import DiagramFile
from spart_blocks.run.engines.native import Native
from spart_blocks.run.simulate import begin
from spart_blocks.versions.edits.values import flow_text


@dataclass(frozen=True)
class Tuned:
    """An engine with tuned parameters.

    file, stamp: the file of the run and its stamp then; options: the run options. texts: all tuned
    values as given, by name. given: for each of them the value of the file, as text; None where it
    cannot be told. original: the engine before all tuning. values: whole values of the changed
    parameters of the program. overrides: tuned values that needed a new trace. extended: function
    that adds to a new engine of the file what this one has besides, such as wrenches.
    """

    engine: Engine
    file: DiagramFile
    stamp: tuple[int, int]
    options: Mapping[str, Any]
    texts: Mapping[str, str] = field(default_factory=dict)
    given: Mapping[str, str | None] = field(default_factory=dict)
    original: Engine | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    overrides: Mapping[str, str] = field(default_factory=dict)
    extended: Callable[[Engine], Native] | None = None


def tuned(before: Tuned, name: str, text: str) -> Tuned:
    """The engine with a parameter changed. name: as for `--set`, or as listed by `tunables`; text:
    its value as YAML. Raises InputError or DiagramError."""
    value = parse_value(text, name)
    target = _target(before, name, value)
    name = _users(before).get(_short(name), name)
    _check_bounds(before, name, value)
    given = {name: given_value(before, name), **before.given}
    original = before.original or before.engine
    texts = {**before.texts, name: text}
    before = replace(before, texts=texts, given=given, original=original)
    if target is None:
        return _retraced(before, name, text)
    engine = before.engine
    assert isinstance(engine, Native)
    engine = engine.with_parameters(_with_value(engine, target, value, name))
    whole = {slot: engine.program.parameter(slot) for slot in target.slots}
    return replace(before, engine=engine, values={**before.values, **whole})


def tuned_again(
    before: Tuned, carried: Mapping[str, tuple[str, str | None]]
) -> tuple[Tuned, list[str]]:
    """The engine with values tuned in an earlier run of the file: by name, the value and that of
    the file then. Where the file has another value now, it holds. Returns also a warning for each
    tuned value that is left out."""
    warnings = []
    for name, (text, given) in carried.items():
        now = given_value(before, name)
        if now == given:
            try:
                before = tuned(before, name, text)
            except SpartError as error:
                warnings.append(f"{name} = {text}, as tuned, is left out: {error}")
        elif now is None or not _is_same(now, text):
            has = "does not have it any more" if now is None else f"has {now} now"
            warnings.append(f"{name} = {text}, as tuned, is left out: the file {has}")
    return before, warnings


def carried(setting: Tuned) -> dict[str, str | None]:
    """The file's values of the tuned parameters that differ from them."""
    given = setting.given
    return {
        name: given[name] for name, text in setting.texts.items() if not _is_same(given[name], text)
    }


def _is_same(one: str | None, other: str) -> bool:
    return one is not None and (one == other or parse_value(one, "") == parse_value(other, ""))


def given_value(setting: Tuned, name: str) -> str | None:
    """The value of a parameter before all tuning, as text; what the file has for one that the
    program does not have, None for one that neither has. name: it may have an index."""
    engine, short = setting.original or setting.engine, _short(name)
    if isinstance(engine, Native) and engine.program.target(short) is not None:
        return text_now(engine, short)
    data = read_document(setting.file.path).data
    keys = short.split(".")
    found = (
        mapping_at(data, section, *keys[:-1]).get(keys[-1]) for section in ("blocks", "params")
    )
    return next((flow_text(value) for value in found if value is not None), None)


def needs_trace(before: Tuned, name: str, text: str) -> bool:
    """Whether setting a parameter needs a new trace, which takes some time."""
    return _target(before, name, parse_value(text, name)) is None


def declared_in(file: DiagramFile) -> dict[str, Declaration]:
    """What a diagram file declares of its parameters."""
    return declarations_of(read_document(file.path).data)


def _check_bounds(before: Tuned, name: str, value: Any) -> None:
    """Raise InputError for a value beyond the bounds that the file declares. name: of a parameter
    of the file, or of one of a block that takes its value from it; it may have an index."""
    base = named(_short(name), tunables(before.engine))[0]
    base = _references(before.file).get(base, base)
    declared = declared_in(before.file).get(base)
    problem = None if declared is None else declared.problem(name, value)
    if problem is not None:
        raise InputError(problem)


def _short(name: str) -> str:
    return name.removeprefix("params.").removeprefix("blocks.")


def stamp_of(file: DiagramFile) -> tuple[int, int]:
    """Modification time and size of a file, to detect changes."""
    found = file.path.stat()
    return found.st_mtime_ns, found.st_size


def check_unchanged(setting: Tuned) -> None:
    """Raise InputError if the file has been changed since the run began."""
    if stamp_of(setting.file) != setting.stamp:
        text = "the file has been changed since this run began"
        raise InputError(Fault(text, hint="run it again, or continue it from a time"))


def tunables(engine: Engine) -> list[str]:
    """The parameters that can be set without a new trace, except initial states."""
    if not isinstance(engine, Native):
        return []
    starts = set(engine.program.start.values())
    names = [slot.name for slot in engine.program.parameters if slot.name not in starts]
    return [*names, *engine.program.given]


def listed(setting: Tuned) -> dict[str, list[str]]:
    """The parameters to show to the user, those of the file first. Each has a list of the block
    parameters that take their value from it, which are not listed themselves."""
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
    """The block parameters that take their value from a parameter of the file, with its name."""
    engine = setting.engine
    given = engine.program.given if isinstance(engine, Native) else {}
    return {slot: name for name, slots in given.items() for slot in slots}


def text_now(engine: Native, name: str) -> str:
    """The present value of a parameter as YAML."""
    return json.dumps(_plain(engine.program.parameter(name).tolist()))


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return int(value) if float(value).is_integer() and abs(value) < 1e15 else value


def _target(before: Tuned, name: str, value: Any) -> Target | None:
    """The entries of the parameter vector p that hold the value of a name; None if setting it needs
    a new trace. With `kp: $kp` they are those of the file's kp."""
    if not isinstance(before.engine, Native) or not _is_numeric(value):
        return None
    program, known = before.engine.program, tunables(before.engine)
    base, index = named(_short(name), known)
    if base not in known:
        base = _references(before.file).get(base, base)
    target = target_at(program, base, own=False)
    starts = set(program.start.values())
    if target is None or starts & set(target.slots) or np.isin(value, list(target.apart)).any():
        return None
    return target.elements(name, index)


def _references(file: DiagramFile) -> dict[str, str]:
    """The block parameters that are written as `$name` in the file, with that name."""
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
    """The parameter vector p with new values at the target. Raises InputError for a wrong shape, or
    values that are not finite."""
    p: Floats = engine.program.p.copy()
    new = np.asarray(value, dtype=float)
    for place in target.places:
        try:
            p[place] = np.broadcast_to(new, place.shape)
        except ValueError:
            shape = (
                "a number" if not place.shape else f"{' x '.join(map(str, place.shape))} numbers"
            )
            raise InputError(f"{name} takes {shape}") from None
    if not np.isfinite(new).all():
        raise InputError(f"{name} takes finite numbers")
    return p


def _retraced(before: Tuned, name: str, text: str) -> Tuned:
    """The setting with an engine traced anew with one more override; earlier tuned values are
    kept."""
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
