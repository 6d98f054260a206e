"""Results as arrays by entry of an archive, and a description as data for JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Mapping
from dataclasses import asdict
from io import BytesIO
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import InputError, brief
from spart_blocks.results.archives import ArrayReader, write_arrays
from spart_blocks.results.run_data import Event, FinalState, RunData, ScopeSpec
from spart_blocks.results.signal_names import STATES

FORMAT = "spart_blocks results 1"
MOST_META = 32 << 20
"""Largest size [bytes] of a description."""
_META = "meta"

Arrays = dict[str, NDArray[Any]]
AnyData = TypeVar("AnyData", bound=RunData)


# --- packing -----------------------------------------------------------------------------


def pack(results: RunData) -> Arrays:
    """Results as arrays by entry; one of them is the description as text."""
    arrays: Arrays = {"t": results.t}
    meta = {
        "signals": _keep(arrays, "", results.signals),
        "states": _keep(arrays, STATES, results.states),
        **_described(results, arrays),
        "format": FORMAT,
    }
    arrays[_META] = np.array(_text_of(meta))
    return arrays


RECORDING = "spart_blocks recording 1"
"""The format of an MCAP file that has results."""
RECORDED, FINAL_STATE = "spart_blocks", "final_state.npz"
"""In such a file, the metadata with `format` and, as `pack_beside` writes it, `meta`; and the
attachment with the arrays."""


def pack_beside(results: RunData) -> tuple[str, bytes]:
    """What results have beside the samples of their signals and states: a description as text, and
    an .npz archive of the arrays that it names."""
    arrays: Arrays = {}
    text = _text_of(_described(results, arrays))
    out = BytesIO()
    write_arrays(arrays, out)
    return text, out.getvalue()


def _described(results: RunData, arrays: Arrays) -> dict[str, Any]:
    """The description; the arrays of the final state are put to `arrays`."""
    final = results.final_state
    meta: dict[str, Any] = {
        "final_state": {
            "t": final.t,
            "continuous": _keep(arrays, "final.continuous.", final.continuous),
            "discrete": _keep(arrays, "final.discrete.", final.discrete),
            "ticks": dict(final.ticks),
        },
        "scopes": [_scope_meta(scope) for scope in results.scopes],
        "events": [asdict(event) for event in results.events],
    }
    for part in ("info", "aliases", "units", "state_names", "levels", "entries"):
        meta[part] = dict(getattr(results, part))
    for part in ("complete", "stopped", "diagram_name"):
        meta[part] = getattr(results, part)
    return meta


def _keep(arrays: Arrays, prefix: str, group: Mapping[str, NDArray[Any]]) -> dict[str, str]:
    """Put the arrays of a group to the others; returns the entry of each."""
    entries = {}
    for name, array in group.items():
        safe = "".join(c if c.isprintable() and c != "\\" else "_" for c in prefix + name)
        entry = unused(f"{_META}#" if safe == _META else safe, arrays)
        arrays[entry] = array
        entries[name] = entry
    return entries


def _scope_meta(scope: ScopeSpec) -> dict[str, Any]:
    """A scope as data for JSON; styles that JSON cannot represent are dropped, so that saving does
    not fail."""
    meta = asdict(scope)
    try:
        _text_of(meta)
    except (TypeError, ValueError):
        meta["styles"] = None
    return meta


def _text_of(meta: Any) -> str:
    return json.dumps(meta, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no place in a results file")


def unused(name: str, used: Container[str], separator: str = "#") -> str:
    """A name that is not in `used`: this one, or with a number behind it."""
    candidate, number = name, 2
    while candidate in used:
        candidate, number = f"{name}{separator}{number}", number + 1
    return candidate


# --- unpacking ---------------------------------------------------------------------------


def unpack(kind: type[AnyData], read: ArrayReader) -> AnyData:
    """Results of class `kind` out of an archive. Raises InputError, or what a wrong description
    leads to."""
    if read.size(_META) > MOST_META:
        raise InputError("its description is too large to be one")
    meta = _mapping(json.loads(str(read(_META, kinds="U"))))
    if meta.get("format") != FORMAT:
        raise InputError(f"format is {meta.get('format')!r}, this version reads {FORMAT!r}")
    t, signals, states = read("t"), _group(read, meta["signals"]), _group(read, meta["states"])
    return _made(kind, meta, t, signals, states, read)


def unpack_beside(
    kind: type[AnyData],
    text: str,
    archive: ArrayReader,
    t: NDArray[Any],
    signals: Arrays,
    states: Arrays,
) -> AnyData:
    """Results of class `kind` of what `pack_beside` has made and of their samples; raises as
    `unpack` does."""
    return _made(kind, _mapping(json.loads(text)), t, signals, states, archive)


def _made(
    kind: type[AnyData],
    meta: dict[str, Any],
    t: NDArray[Any],
    signals: Arrays,
    states: Arrays,
    read: Callable[[str], NDArray[Any]],
) -> AnyData:
    final = meta["final_state"]
    return kind(
        t=t,
        signals=signals,
        states=states,
        final_state=FinalState(
            t=float(final["t"]),
            continuous=_group(read, final["continuous"]),
            discrete=_group(read, final["discrete"]),
            ticks={clock: int(ticks) for clock, ticks in _mapping(final["ticks"]).items()},
        ),
        scopes=tuple(ScopeSpec.from_plain(scope) for scope in meta["scopes"]),
        events=tuple(Event(float(e["t"]), str(e["block"]), str(e["what"])) for e in meta["events"]),
        complete=bool(meta["complete"]),
        stopped=None if meta["stopped"] is None else str(meta["stopped"]),
        diagram_name=str(meta["diagram_name"]),
        info=_facts(meta["info"]),
        aliases={k: str(v) for k, v in _mapping(meta["aliases"]).items()},
        units={k: str(v) for k, v in _mapping(meta["units"]).items()},
        # Files of before these were kept have none.
        state_names=_names_by(meta.get("state_names", {})),
        levels=_names_by(meta.get("levels", {})),
        entries=_names_by(meta.get("entries", {})),
    )


def _group(read: Callable[[str], NDArray[Any]], entries: Any) -> Arrays:
    return {name: read(str(entry)) for name, entry in _mapping(entries).items()}


def _mapping(value: Any) -> dict[str, Any]:
    """The value if it is a mapping, whose keys are always text in JSON. Raises TypeError
    otherwise."""
    if not isinstance(value, dict):
        raise TypeError(f"its description has {brief(value)} where a mapping is")
    return value


def _facts(info: Any) -> dict[str, Any]:
    """The entry `info` of a file: numbers and texts by name; other values become text."""
    plain = (str, int, float, type(None))
    return {k: v if isinstance(v, plain) else brief(v) for k, v in _mapping(info).items()}


def _names_by(given: Any) -> dict[str, tuple[str, ...]]:
    return {key: tuple(map(str, names)) for key, names in _mapping(given).items()}
