"""The `sweep:` section of a diagram: many runs that differ in what they start from."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    StrictBool,
    StrictStr,
    WithJsonSchema,
    model_validator,
)

from spart_blocks.base.errors import brief
from spart_blocks.diagram.sections.expectations import NotNegative, Positive, Values
from spart_blocks.diagram.sections.section import Section
from spart_blocks.formulas.values import names_in

if TYPE_CHECKING:
    from spart_blocks.diagram.build.wiring import Wiring

MOST_DRAWS = 1_000_000_000
MOST_VALUES = 100_000
"""Largest number of values in a list."""

Design = Literal["random", "sobol", "halton", "latin_hypercube", "saltelli"]
Keep = Literal["none", "failed", "all"]


# --- distributions ---------------------------------------------------------------------------


def _shape(**values: Any) -> tuple[int, ...]:
    """The shape that values broadcast to. Raises ValueError."""
    arrays = {name: np.shape(value) for name, value in values.items() if value is not None}
    try:
        return np.broadcast_shapes(*arrays.values())
    except ValueError:
        listed = " and ".join(f"{name} {shape}" for name, shape in arrays.items() if shape)
        raise ValueError(f"the shapes of {listed} differ") from None


def _check_rectangular(**values: Any) -> None:
    for name, value in values.items():
        try:
            np.asarray(0.0 if value is None else value, dtype=float)
        except ValueError:
            raise ValueError(f"the rows of {name} differ in length") from None


def _check_rising(low: Any, high: Any) -> None:
    if (np.asarray(high) < np.asarray(low)).any():
        raise ValueError(f"high, {brief(high)}, is below low, {brief(low)}")


class NormalDraw(Section):
    """A normal distribution; with a covariance, of a vector."""

    mean: Values = Field(0.0, description="the mean, a number or one for each element")
    sd: Values = Field(None, description="standard deviation, 0 or more")
    covariance: Values = Field(None, description="covariance matrix of a vector, instead of sd")

    @model_validator(mode="after")
    def _valid(self) -> NormalDraw:
        if (self.sd is None) == (self.covariance is None):
            raise ValueError("takes either sd or covariance")
        _check_rectangular(mean=self.mean, sd=self.sd, covariance=self.covariance)
        if self.sd is not None:
            _shape(mean=self.mean, sd=self.sd)
            if (np.asarray(self.sd) < 0).any():
                raise ValueError(f"sd is {brief(self.sd)}; it must not be negative")
            return self
        C = np.asarray(self.covariance)
        if C.ndim != 2 or not C.size or C.shape[0] != C.shape[1]:
            raise ValueError(f"the covariance has shape {C.shape}; it must be a square matrix")
        if np.shape(self.mean) not in ((), C.shape[:1]):
            raise ValueError(f"mean has shape {np.shape(self.mean)}, covariance {C.shape}")
        if not np.allclose(C, C.T, rtol=1e-9, atol=0):
            raise ValueError("the covariance must be symmetric")
        least, most = np.linalg.eigvalsh(C)[[0, -1]]
        if least < -1e-9 * max(most, 0):
            raise ValueError(f"the covariance has the negative eigenvalue {least:.3g}")
        return self

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of what is drawn."""
        if self.covariance is not None:
            return np.shape(self.covariance)[:1]
        return _shape(mean=self.mean, sd=self.sd)


class TruncatedNormalDraw(Section):
    """A normal distribution without what lies below low or above high."""

    mean: Values = Field(0.0, description="mean of the normal distribution before it is cut")
    sd: Values = Field(description="its standard deviation, above 0")
    low: Values = Field(None, description="the least value; without it there is none")
    high: Values = Field(None, description="the greatest value; without it there is none")

    @model_validator(mode="after")
    def _valid(self) -> TruncatedNormalDraw:
        given = {"mean": self.mean, "sd": self.sd, "low": self.low, "high": self.high}
        _check_rectangular(**given)
        _shape(**given)
        if (np.asarray(self.sd) <= 0).any():
            raise ValueError(f"sd is {brief(self.sd)}; it must be above zero")
        if self.low is None and self.high is None:
            raise ValueError("needs low or high")
        if self.low is not None and self.high is not None:
            _check_rising(self.low, self.high)
        for bound, sign in ((self.low, 1), (self.high, -1)):
            if bound is not None:
                far = sign * (np.asarray(bound) - np.asarray(self.mean)) / np.asarray(self.sd)
                if (far > 37).any():
                    raise ValueError("what is left lies over 37 standard deviations from the mean")
        return self

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of what is drawn."""
        return _shape(mean=self.mean, sd=self.sd, low=self.low, high=self.high)


class UniformDraw(Section):
    """Equally likely between low and high."""

    low: Values = Field(description="the least value")
    high: Values = Field(description="the greatest value")

    @model_validator(mode="after")
    def _valid(self) -> UniformDraw:
        _check_rectangular(low=self.low, high=self.high)
        _shape(low=self.low, high=self.high)
        _check_rising(self.low, self.high)
        return self

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of what is drawn."""
        return _shape(low=self.low, high=self.high)


class LogUniformDraw(UniformDraw):
    """A value whose logarithm is equally likely between those of low and high, both above 0."""

    @model_validator(mode="after")
    def _positive(self) -> LogUniformDraw:
        if (np.asarray(self.low) <= 0).any():
            raise ValueError(f"low is {brief(self.low)}; it must be above zero")
        return self


class ChoiceDraw(Section):
    """One of several values."""

    values: tuple[Any, ...] = Field(description="the values: numbers, texts or lists", min_length=1)
    weights: tuple[NotNegative, ...] | None = Field(
        None, description="how likely each is, in proportion; by default all are equally likely"
    )

    @model_validator(mode="after")
    def _valid(self) -> ChoiceDraw:
        if self.weights is not None:
            if len(self.weights) != len(self.values):
                text = f"{len(self.weights)} weights for {len(self.values)} values"
                raise ValueError(f"there are {text}")
            if not sum(self.weights) > 0:
                raise ValueError("the weights are all zero")
        return self

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of what is drawn; () where the values differ in shape or are no numbers."""
        shapes = {np.shape(value) for value in self.values} if self.numeric else {()}
        return shapes.pop() if len(shapes) == 1 else ()

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers or arrays of one shape."""
        try:
            array = np.asarray(self.values)
        except ValueError:
            return False
        return array.dtype.kind in "iuf"


class RotationDraw(Section):
    """A random rotation, as a quaternion (x, y, z, w), about the nominal attitude."""

    within: Positive | None = Field(
        None,
        le=math.pi,
        description="greatest angle from the nominal attitude [rad]; all rotations within it are "
        "equally likely. By default any rotation",
    )
    sd: NotNegative | None = Field(
        None,
        description="instead: standard deviation of each component of the rotation vector from "
        "the nominal attitude, in body axes [rad]",
    )

    @model_validator(mode="after")
    def _valid(self) -> RotationDraw:
        if self.within is not None and self.sd is not None:
            raise ValueError("takes either within or sd")
        return self

    @property
    def shape(self) -> tuple[int, ...]:
        """That of a quaternion."""
        return (4,)

    @property
    def about_nominal(self) -> bool:
        """Whether the nominal attitude matters."""
        return self.within is not None or self.sd is not None


def _rotation(raw: Any) -> Any:
    return {} if raw is None else raw


# --- what varies ---------------------------------------------------------------------------------


def _check_plain(value: Any) -> None:
    """Refuse a value that no file could hold."""
    if isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            _check_plain(item)
    elif not isinstance(value, str | int | float | None):
        raise ValueError(f"takes numbers, texts, lists and mappings, not {brief(value)}")


def _listed(raw: Any) -> Any:
    """A list stands for its values."""
    if isinstance(raw, list | tuple):
        if not raw:
            raise ValueError("takes at least one value")
        for value in raw:
            _check_plain(value)
        return {"values": raw}
    if not isinstance(raw, dict | BaseModel):
        raise ValueError(
            f"takes a list of values, or a distribution such as {{normal: {{mean: 20, sd: 2}}}}, "
            f"not {brief(raw)}"
        )
    return raw


def _may_be_list(schema: dict[str, Any]) -> None:
    entry = schema["additionalProperties"]
    schema["additionalProperties"] = {"anyOf": [{"type": "array", "minItems": 1}, entry]}


class Varied(Section):
    """The values that a path takes: those of a list, or of one distribution."""

    values: tuple[Any, ...] | None = Field(
        None, description="a grid axis", min_length=1, max_length=MOST_VALUES
    )
    normal: NormalDraw | None = Field(None, description="mean, and sd or covariance")
    truncated_normal: TruncatedNormalDraw | None = Field(None, description="mean, sd, low, high")
    uniform: UniformDraw | None = Field(None, description="low, high")
    log_uniform: LogUniformDraw | None = Field(None, description="low, high, above zero")
    choice: ChoiceDraw | None = Field(None, description="values, and weights")
    rotation: Annotated[RotationDraw | None, BeforeValidator(_rotation)] = Field(
        None, description="a quaternion; within or sd [rad] about the nominal attitude"
    )
    relative: StrictBool = Field(
        False, description="multiply the value of the diagram by these numbers"
    )
    each: StrictBool = Field(
        False, description="draw a number for each element of the diagram's value"
    )

    @model_validator(mode="after")
    def _one(self) -> Varied:
        given = [name for name in KINDS if getattr(self, name) is not None]
        if len(given) != 1:
            needs = f"takes one of {', '.join(KINDS)}"
            raise ValueError(f"{needs}, not {' and '.join(given) if given else 'none'}")
        if self.rotation is not None and (self.relative or self.each):
            raise ValueError(
                "a rotation is about the nominal attitude; leave out relative and each"
            )
        if self.each and self.drawn is None:
            raise ValueError("each: true needs a distribution")
        if self.each and (self.drawn is None or self.drawn.shape):
            raise ValueError("each: true takes a distribution of single numbers")
        if self.each and self.choice is not None and not self.choice.numeric:
            raise ValueError("each: true takes a choice of numbers")
        if self.relative and not self._numeric():
            raise ValueError("relative: true takes numbers")
        return self

    def _numeric(self) -> bool:
        try:
            given = self.choice.values if self.choice is not None else self.values or ()
            return all(np.asarray(value).dtype.kind in "iuf" for value in given)
        except ValueError:
            return False

    @property
    def drawn(self) -> Draw | None:
        """Its distribution; None for a list."""
        for name in KINDS[1:]:
            found: Draw | None = getattr(self, name)
            if found is not None:
                return found
        return None


Draw = NormalDraw | TruncatedNormalDraw | UniformDraw | LogUniformDraw | ChoiceDraw | RotationDraw

KINDS = (
    *("values", "normal", "truncated_normal", "uniform", "log_uniform", "choice", "rotation"),
)  # fmt: skip
"""Of which a varied path takes one."""


class FaultSection(Section):
    """Values that take the place of others from a time on."""

    at: NotNegative = Field(0.0, description="when it begins [s]")
    set: dict[StrictStr, Any] = Field(
        description="values by path, as --set takes them", min_length=1
    )


def _choices(raw: Any) -> Any:
    if raw == "all" or raw is None:
        return raw
    if not isinstance(raw, dict):
        raise ValueError("takes all, or the choices for each slot: {controller: [pd, lqr]}")
    found = {}
    for slot, names in raw.items():
        names = (names,) if isinstance(names, str) else names
        texts = isinstance(names, list | tuple) and all(isinstance(n, str) for n in names)
        if not texts or not names:
            raise ValueError(f"{slot} takes all, or a list of choices such as [pd, lqr]")
        if len(set(names)) < len(names):
            raise ValueError(f"{slot} has a choice twice")
        found[slot] = tuple(names)
    return found


_CHOICES_SCHEMA = {
    "anyOf": [
        {"const": "all"},
        {
            "type": "object",
            "additionalProperties": {
                "anyOf": [{"const": "all"}, {"type": "array", "items": {"type": "string"}}]
            },
        },
        {"type": "null"},
    ]
}
_KEEP_SCHEMA = {
    "anyOf": [{"enum": ["none", "failed", "all"]}, {"type": "integer", "minimum": 0}],
}


def _kept(raw: Any) -> Any:
    whole = isinstance(raw, int) and not isinstance(raw, bool) and raw >= 0
    if not whole and raw not in ("none", "failed", "all"):
        raise ValueError(f"takes none, failed, all or a number of runs, not {brief(raw)}")
    return raw


Whole = Annotated[int, Field(strict=True, ge=0)]
Axis = Annotated[tuple[StrictStr, ...], Field(min_length=2)]
VariedPaths = Annotated[
    dict[StrictStr, Annotated[Varied, BeforeValidator(_listed)]],
    Field(json_schema_extra=_may_be_list),
]


class Cases(Section):
    """What several runs of a diagram differ in."""

    runs: Annotated[int, Field(strict=True, ge=1, le=MOST_DRAWS)] | None = Field(
        None,
        description="draws of what is random, for each point of the grid, variant and fault",
    )
    seed: Annotated[int, Field(strict=True, ge=0, le=2**64 - 1)] = Field(
        0, description="selects the random numbers"
    )
    design: Design = Field(
        "random",
        description="how the space of what is random is filled: independent draws; sobol, halton "
        "or latin_hypercube points; or saltelli, for Sobol indices",
    )
    over: VariedPaths = Field(
        default_factory=dict,
        description="paths as --set takes them, and their values: a list, or a distribution",
    )
    zip: tuple[Axis, ...] = Field((), description="lists that are walked together: [[kp, kd]]")
    cases: StrictStr | None = Field(
        None, description="a .csv file with a case in each row; its columns are paths"
    )
    variants: Annotated[Any, BeforeValidator(_choices), WithJsonSchema(_CHOICES_SCHEMA)] = Field(
        None, description="choices for the slots of the file's variants, or all"
    )
    faults: dict[StrictStr, FaultSection] = Field(
        default_factory=dict, description="named changes, each with the time at which it begins"
    )
    faultless: StrictBool = Field(
        True, description="whether each case runs without a fault too, under the name none"
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if "none" in self.faults:
            raise ValueError(
                "the fault 'none' is always there; with faultless: false there are only the others"
            )
        if not self.faultless and not self.faults:
            raise ValueError("faultless: false leaves no runs; name a fault")
        seen: set[str] = set()
        for axis in self.zip:
            self._check_axis(axis, seen)
        return self

    def _check_axis(self, axis: tuple[str, ...], seen: set[str]) -> None:
        lengths = {}
        for path in axis:
            varied = self.over.get(path)
            if varied is None or varied.values is None:
                raise ValueError(f"zip: {path!r} is no list of over")
            if path in seen:
                raise ValueError(f"zip: {path!r} is there twice")
            seen.add(path)
            lengths[path] = len(varied.values)
        if len(set(lengths.values())) > 1:
            listed = " and ".join(f"{path} has {count}" for path, count in lengths.items())
            raise ValueError(f"zip: lists of one length walk together, but {listed}")


def _names(raw: Any) -> tuple[str, ...]:
    names = (raw,) if isinstance(raw, str) else raw
    texts = isinstance(names, list | tuple) and all(isinstance(n, str) and n for n in names)
    if not texts:
        raise ValueError(f"takes names of parameters such as [kp, ctrl.kd], not {brief(raw)}")
    return tuple(dict.fromkeys(names))


def _differentiated(raw: Any) -> Any:
    if isinstance(raw, dict):
        return {metric: _names(names) for metric, names in raw.items()}
    return _names(raw)


_NAMES_SCHEMA = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
_GRADIENTS_SCHEMA = {
    "anyOf": [
        *_NAMES_SCHEMA["anyOf"],
        {"type": "object", "additionalProperties": _NAMES_SCHEMA},
    ]
}


class SweepSection(Cases):
    """Many runs of the diagram: what they differ in, and what is measured and kept of each."""

    metrics: dict[StrictStr, StrictStr] = Field(
        default_factory=dict, description="numbers of each run: name: formula"
    )
    gradients: Annotated[
        Any, BeforeValidator(_differentiated), WithJsonSchema(_GRADIENTS_SCHEMA)
    ] = Field(
        (),
        description="parameters by which all metrics are differentiated in each run: [kp, kd]; or "
        "those of each metric: {miss: [kp]}",
    )
    keep: Annotated[Any, BeforeValidator(_kept), WithJsonSchema(_KEEP_SCHEMA)] = Field(
        "none", description="runs whose histories are kept: none, failed, all, or how many"
    )
    every: Positive | None = Field(None, description="interval [s] of kept histories")


def check_sweep(section: SweepSection, wiring: Wiring) -> None:
    """Add the companions whose signals the metrics measure, such as plant.umdot."""
    for metric, text in section.metrics.items():
        for name in names_in(text):
            wiring.ask(name, wiring.document.place("sweep", "metrics", metric))
