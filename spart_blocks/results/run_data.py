"""Results: time, signals by name, states, and the state from which a run can continue."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spart_blocks.base.argument_checks import as_numbers, as_text
from spart_blocks.base.errors import Fault, InputError, did_you_mean, warn
from spart_blocks.base.paths import element_names, index_of, select, several_signals, split_index
from spart_blocks.results.columns import state_columns, state_place, unit_in_signal
from spart_blocks.results.signal_names import RATES as RATES
from spart_blocks.results.signal_names import STATES, THINNED
from spart_blocks.results.times import Moved, RowInterpolation

Array = NDArray[Any]
Info = str | float | int
_NAME = "the name of a signal"


@dataclass(frozen=True)
class Event:
    """An event during the run: t [s], the block, and a description."""

    t: float
    block: str
    what: str


@dataclass(frozen=True, eq=False)
class FinalState:
    """The state at the end of a run, sufficient to continue it.

    t [s]; continuous and discrete states by block name; ticks done of each clock.
    """

    t: float
    continuous: Mapping[str, Array] = field(default_factory=dict)
    discrete: Mapping[str, Array] = field(default_factory=dict)
    ticks: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for part in ("continuous", "discrete"):
            owned = {name: _frozen(value, name) for name, value in getattr(self, part).items()}
            object.__setattr__(self, part, owned)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        # NumPy forgets in a pickle that an array is read-only, so all is made anew.
        return type(self), (self.t, self.continuous, self.discrete, self.ticks)


@dataclass(frozen=True)
class ScopeSpec:
    """How a scope block shows its signals.

    signals: one name for each input port; for 'xy' the two names x and y, or one
    vector of which `vector` picks two elements. labels and styles: one for each line,
    or one for each port; a style is a Matplotlib format string or dict of line
    properties. held: for each signal, whether it changes at the ticks of clocks only, and is
    drawn as stairs. scale: None, (min, max), or for 'xy' also (xmin, xmax, ymin, ymax).
    """

    name: str
    kind: Literal["time", "xy"] = "time"
    signals: tuple[str, ...] = ()
    labels: tuple[str, ...] | None = None
    styles: tuple[str | dict[str, Any] | None, ...] | None = None
    title: str | None = None
    stairs: bool = False
    scale: tuple[float, ...] | None = None
    xlabel: str | None = None
    ylabel: str | None = None
    vector: tuple[int, ...] | None = None
    equal: bool = False
    held: tuple[bool, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in ("time", "xy"):
            raise InputError(f"scope {self.name}: kind is {self.kind!r}, takes 'time' or 'xy'")
        widths = (2,) if self.kind == "time" else (2, 4)
        if self.scale is not None and len(self.scale) not in widths:
            takes = "(min, max)" + (" or (xmin, xmax, ymin, ymax)" if self.kind == "xy" else "")
            raise InputError(f"scope {self.name}: scale {self.scale} should be {takes}")
        if self.held and len(self.held) != len(self.signals):
            raise InputError(
                f"scope {self.name}: held has {len(self.held)} entries for "
                f"{len(self.signals)} signals"
            )
        given = (len(self.signals), self.vector and len(self.vector))
        if self.kind == "xy" and given not in ((2, None), (1, 2)):
            raise InputError(
                f"scope {self.name}: an xy scope takes two signals, or one and a vector of two "
                f"indices; it has {len(self.signals)} signals and vector {self.vector}"
            )

    @staticmethod
    def from_plain(plain: Mapping[str, Any]) -> ScopeSpec:
        """The scope restored from the data of `dataclasses.asdict`, read from JSON. Raises
        TypeError for invalid data."""
        values = {key: _tuples(value) for key, value in plain.items()}
        for key, value in values.items():
            optional = value is None and key not in ("name", "kind", "signals")
            if not optional and not _SCOPE[key](value):
                raise TypeError(f"{key} of a scope is {value!r:.60}")
        return ScopeSpec(**values)


def _of(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


def _all_of(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, tuple) and all(isinstance(item, kinds) for item in value)


# What each part of a scope is, where it comes out of a file.
_SCOPE: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("name", "kind", "title", "xlabel", "ylabel"), _of(str)),
    **dict.fromkeys(("signals", "labels"), _all_of(str)),
    **dict.fromkeys(("stairs", "equal"), _of(bool)),
    "styles": _all_of(str, dict, type(None)),
    "scale": _all_of(int, float),
    "vector": _all_of(int),
    "held": _all_of(bool),
}


def _tuples(value: Any) -> Any:
    """A value with all lists, which JSON has, replaced by tuples."""
    if isinstance(value, list):
        return tuple(_tuples(item) for item in value)
    if isinstance(value, dict):
        return {key: _tuples(item) for key, item in value.items()}
    return value


@dataclass(frozen=True, eq=False, repr=False)
class RunData:
    """The data of a run, by name; see Results, which also shows and writes them."""

    t: Array
    signals: Mapping[str, Array]
    states: Mapping[str, Array]
    final_state: FinalState
    scopes: tuple[ScopeSpec, ...] = ()
    events: tuple[Event, ...] = ()
    complete: bool = True
    stopped: str | None = None
    diagram_name: str = ""
    info: Mapping[str, Info] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    state_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    entries: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    recompute: Callable[[str], Array] | None = field(default=None, repr=False)
    _computed: dict[str, Array] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        time = _frozen(self.t, "t")
        if time.ndim != 1:
            raise InputError(f"t has shape {time.shape}, takes (N,)")
        object.__setattr__(self, "t", time)
        for part in ("signals", "states"):
            owned = {name: self._checked(name, a) for name, a in getattr(self, part).items()}
            object.__setattr__(self, part, owned)

    def _checked(self, name: str, array: Array) -> Array:
        frozen = _frozen(array, name)
        if frozen.shape[:1] != self.t.shape:
            raise InputError(f"{name} has shape {frozen.shape}, takes ({len(self.t)}, ...)")
        return frozen

    # --- copies ------------------------------------------------------------------------

    def __copy__(self) -> Self:
        return replace(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Copies all arrays. The function that computes other signals is shared, since it changes
        nothing."""
        parts = self._parts()
        recompute = parts.pop("recompute")
        return type(self)(**deepcopy(parts, memo), recompute=recompute)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        parts = self._parts()
        portable = getattr(self.recompute, "portable", None)
        # It is given these very arrays, which a pickle writes once.
        parts["recompute"] = portable(self.t, self.states) if portable else None
        return _rebuilt, (type(self), parts)

    def _parts(self) -> dict[str, Any]:
        return {part.name: getattr(self, part.name) for part in fields(self) if part.init}

    # --- signals by name ---------------------------------------------------------------

    def __repr__(self) -> str:
        end = f", the last at {self.t[-1]:.6g} s" if len(self.t) else ""
        return (
            f"<results of {self.diagram_name or 'a run'}: {len(self.t)} samples{end}; "
            f"{len(self.signals)} signals>"
        )

    def __getitem__(self, name: str) -> Array:
        """A signal, (N, ...): 'plant.qm', 'ctrl', 'plant.qm[0:2]', 'states.plant', one of those
        states by its name, 'states.plant.qm.Joint_1', and 'rates.plant', the states' rates."""
        name = as_text(name, _NAME)
        found = self._find(name)
        if found is not None:
            return found
        base, index = split_index(name)
        if index is not None:
            return select(name, self[base], self._numbered(base, index))
        raise InputError(self._unknown(name))

    def __contains__(self, name: object) -> bool:
        """Whether a signal of this name was kept (or computed before)."""
        return isinstance(name, str) and (
            self._kept(name) is not None or self._kept(split_index(name)[0]) is not None
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self.signals)

    def __len__(self) -> int:
        return len(self.signals)

    def keys(self) -> tuple[str, ...]:
        """The names of the kept signals."""
        return tuple(self.signals)

    def _ipython_key_completions_(self) -> list[str]:
        """Completions of `results["`: signals, kept or computable, and states."""
        states = [label for block in self.states for label in self.column_names(STATES + block)]
        blocks = [STATES + block for block in self.states]
        return list(
            dict.fromkeys([*self.signals, *self._computable(), *self.aliases, *blocks, *states])
        )

    def _computable(self) -> tuple[str, ...]:
        """The names of signals that were not kept, and can be computed."""
        return tuple(getattr(self.recompute, "names", ()))

    def at(self, times: ArrayLike) -> Self:
        """The results at other times (m,) [s], by linear interpolation; at a jump, the value
        after it. Raises InputError for times outside the run.
        """
        wanted = as_numbers(times, "times")
        if not (np.diff(wanted) >= 0).all():
            raise InputError("times must be a list of numbers that rise")
        if not len(self.t) or not ((self.t[0] <= wanted) & (wanted <= self.t[-1])).all():
            span = f"from {self.t[0]:.9g} to {self.t[-1]:.9g} s" if len(self.t) else "empty"
            raise InputError(f"no results at these times; the run is {span}")
        moved = RowInterpolation.between(self.t, wanted)
        return replace(
            self,
            t=wanted,
            signals={name: moved(array) for name, array in self.signals.items()},
            states={name: moved(array) for name, array in self.states.items()},
            recompute=Moved(self._find, self._computable, moved),
        )

    def scale(self, name: str) -> float:
        """The largest magnitude of a signal, in its unit; 0 when it has no samples."""
        return float(np.max(np.abs(self[name]), initial=0.0))

    def unit(self, name: str) -> str:
        """The unit of a signal, '' when unknown."""
        base = split_index(as_text(name, _NAME))[0]
        for key in (name, base, self.aliases.get(base, base)):
            if key in self.units:
                return self.units[key]
        place = state_place(name, self.states, self.state_names)
        return unit_in_signal(name, place[0], self.units) if place else ""

    def levels_of(self, name: str) -> tuple[str, ...]:
        """The names of the values 1, 2, ... of a signal that numbers states; () for others."""
        name = as_text(name, _NAME)
        return self.levels.get(self.aliases.get(name, name), ())

    def _kept(self, name: str) -> Array | None:
        if name in self.signals:
            return self.signals[name]
        if name in self._computed:
            return self._computed[name]
        if name in self.aliases and self.aliases[name] != name:
            return self._kept(self.aliases[name])
        under = next((shown for shown in self.signals if self.aliases.get(shown) == name), None)
        if under is not None:  # kept under the name that `log` gives it
            return self.signals[under]
        if name.startswith(STATES):
            whole = self.states.get(name.removeprefix(STATES))
            place = state_place(name, self.states, self.state_names)
            if whole is None and place is not None:
                return self.states[place[0]][:, place[1]]
            return whole
        return None

    def _find(self, name: str) -> Array | None:
        kept = self._kept(name)
        if kept is not None or self.recompute is None or split_index(name)[1] is not None:
            return kept
        canonical = self.aliases.get(name, name)
        try:
            array = self.recompute(canonical)
        except KeyError:
            return None
        if THINNED in self.info:
            keep = f"\n  run: {{log: [{canonical}]}} keeps it"
            warn(
                f"{canonical} was not kept: it is computed at the rows of a thinned record, which "
                "need not have its least and greatest value"
                + (keep if not canonical.startswith(RATES) else "")
            )
        self._computed[canonical] = self._checked(canonical, array)
        return self._computed[canonical]

    def _unknown(self, name: str) -> Fault:
        block = name.partition(".")[0]
        more = self._computable()
        choices = [*self.signals, *self.aliases, *more, *(STATES + block for block in self.states)]
        hint = did_you_mean(name, choices) or "nothing was kept; name it under run: log:"
        if block in choices:
            hint = f"{block} has one signal, {block}"
        elif self.recompute is None and block in self.states:
            hint += f"\n  what was not kept is not in its file: run it with log: [{name}]"
        fault = Fault(f"no signal {name!r} in the results", hint=hint)
        return several_signals(name, self.signals) or fault

    def to_dict(self) -> dict[str, Array]:
        """'t' and every kept signal, as arrays."""
        return {"t": self.t, **self.signals}

    def table(self, *names: str) -> dict[str, Array]:
        """Columns (N,) by name, 't' first: the given signals, or all signals and states.

        A vector is one column for each element, 'plant.qm[0]'; states that have names are
        columns by name, 'states.plant.qm.Joint_1'.
        """
        chosen = names or (*self.signals, *(STATES + block for block in self.states))
        columns: dict[str, Array] = {"t": self.t}
        for name in chosen:
            array = self[name]
            flat = array.reshape(len(self.t), int(np.prod(array.shape[1:], dtype=int)))
            columns |= zip(self.column_names(name), flat.T, strict=True)
        return columns

    def column_names(self, name: str) -> list[str]:
        """The names of the columns of a signal, or of all states of a block, in `table`."""
        block = name.removeprefix(STATES)
        if name.startswith(STATES) and block in self.states:
            return state_columns(block, self.states, self.state_names)
        return self.labels(name)

    def labels(self, name: str) -> list[str]:
        """The name of each element of a signal: 'q[1]', 'q[2]' for 'q[1:3]'."""
        name = as_text(name, _NAME)
        base, index = (name, None) if self._kept(name) is not None else split_index(name)
        number = None if index is None else self._numbered(base, index)
        return element_names(base, self[base].shape[1:], number)

    def entry_names(self, name: str) -> list[str]:
        """The names of the elements of a vector, such as the joints; [] if they have none."""
        name = as_text(name, _NAME)
        base, index = (name, None) if self._kept(name) is not None else split_index(name)
        names = self._entries(base)
        if not names or self[base].shape[1:] != (len(names),):
            return []
        whole = np.array([names], dtype=object)
        number = None if index is None else self._numbered(base, index)
        return list(map(str, np.ravel(select(name, whole, number))))

    def legends(self, name: str) -> list[str]:
        """The name of each element of a signal for readers: 'plant.qm[shoulder]', or that of
        `labels` if it has no name."""
        base = name if self._kept(name) is not None else split_index(name)[0]
        return [f"{base}[{entry}]" for entry in self.entry_names(name)] or self.labels(name)

    def _entries(self, base: str) -> tuple[str, ...]:
        return self.entries.get(self.aliases.get(base, base), ())

    def _numbered(self, base: str, index: str) -> str:
        """An index, with the number of an entry in place of its name."""
        names = self._entries(base)
        named = index in names and index_of(index) is None
        return str(names.index(index)) if named else index


def _rebuilt(kind: type[RunData], parts: dict[str, Any]) -> RunData:
    """Results restored from a pickle."""
    return kind(**parts)


def _frozen(value: Any, name: str) -> Array:
    """A read-only view of a numeric array."""
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise InputError(f"{name} holds {array.dtype}, takes numbers")
    view = array.view()
    view.flags.writeable = False
    return view
