"""The `tune:` section of a diagram: parameters of a design, what is to be small, and what must hold
in every case.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, StrictStr, WithJsonSchema, model_validator

from spart_blocks.base.errors import brief
from spart_blocks.diagram.sections.bounds import Bounded, Limits
from spart_blocks.diagram.sections.expectations import Positive
from spart_blocks.diagram.sections.frequency_section import START, FrequencySection, PointSection
from spart_blocks.diagram.sections.section import Section
from spart_blocks.diagram.sections.sweep_section import Cases
from spart_blocks.formulas.values import names_in

if TYPE_CHECKING:
    from spart_blocks.diagram.build.wiring import Wiring

OBJECTIVE = "objective"
"""The name of an objective that stands alone."""
Whole = Annotated[int, Field(strict=True, ge=0)]


class Quantile(Section):
    """Holds in a share of the cases."""

    quantile: Annotated[float, Field(strict=True, gt=0, lt=1)] = Field(
        description="the share of the cases that counts: the others may be worse"
    )


def _aggregate(raw: Any) -> Any:
    if raw in ("worst", "mean") or isinstance(raw, Mapping | Quantile):
        return raw
    raise ValueError(f"takes worst, mean or {{quantile: 0.95}}, not {brief(raw)}")


_AGGREGATE_SCHEMA: dict[str, Any] = {
    "anyOf": [{"enum": ["worst", "mean"]}, Quantile.model_json_schema()]
}
Aggregate = Annotated[
    Literal["worst", "mean"] | Quantile,
    BeforeValidator(_aggregate),
    WithJsonSchema(_AGGREGATE_SCHEMA),
]


class Goal(Section):
    """A part of the objective."""

    metric: StrictStr = Field(description="a formula of a run's measurements")
    weight: Positive = Field(1.0, description="by which it is multiplied")


class Constraint(Limits):
    """A metric with the least or the greatest value that it may have."""

    metric: StrictStr = Field(description="a formula of a run's measurements")
    aggregate: Aggregate = Field(
        "worst", description="worst: in every case; mean: on average; quantile: in a share of them"
    )


def _goals(raw: Any) -> Any:
    """A formula alone, or formulas by name."""
    if isinstance(raw, str) or (isinstance(raw, Mapping) and "metric" in raw):
        raw = {OBJECTIVE: raw}
    if not isinstance(raw, Mapping):
        return raw
    return {key: {"metric": one} if isinstance(one, str) else one for key, one in raw.items()}


def _compared(text: Any) -> Any:
    """The constraint that an inequality is: `peak(tau) <= 2`, `0.1 <= final(x) <= 0.2`."""
    if isinstance(text, Mapping | Constraint):
        return text
    text = str(text)
    wrong = f"takes an inequality, as peak(tau) <= 2, not {brief(text)}"
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise ValueError(wrong) from None
    if not isinstance(tree, ast.Compare) or len(tree.ops) > 2:
        raise ValueError(wrong)
    sides = [tree.left, *tree.comparators]
    if len(sides) == 3:
        numbers = _number(sides[0]), _number(sides[2])
        rising = all(isinstance(op, ast.LtE | ast.Lt) for op in tree.ops)
        if not rising or None in numbers:
            raise ValueError(wrong)
        return {"metric": ast.unparse(sides[1]), "min": numbers[0], "max": numbers[1]}
    (op,), (left, right) = tree.ops, sides
    names: dict[type, str] = {
        ast.LtE: "max", ast.Lt: "max", ast.GtE: "min", ast.Gt: "min", ast.Eq: "equal",
    }  # fmt: skip
    name = names.get(type(op))
    if name is None:
        raise ValueError(wrong)
    number = _number(right)
    if number is not None:
        return {"metric": ast.unparse(left), name: number}
    number = _number(left)
    if number is not None:
        turned = {"max": "min", "min": "max"}.get(name, name)
        return {"metric": ast.unparse(right), turned: number}
    return {"metric": f"({ast.unparse(left)}) - ({ast.unparse(right)})", name: 0.0}


def _number(node: ast.expr) -> float | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return float(value) if isinstance(value, int | float) else None


def _claims(raw: Any) -> Any:
    if raw == "all":
        return raw
    if not isinstance(raw, list | tuple) or not all(isinstance(one, str) for one in raw):
        raise ValueError(f"takes all, or a list of claims of expect:, not {brief(raw)}")
    return tuple(raw)


_TEXT = {"type": "string"}
_GOALS_SCHEMA: dict[str, Any] = {
    "anyOf": [
        _TEXT,
        Goal.model_json_schema(),
        {
            "type": "object",
            "additionalProperties": {"anyOf": [_TEXT, Goal.model_json_schema()]},
        },
    ]
}
_CLAIMS_SCHEMA: dict[str, Any] = {"anyOf": [{"const": "all"}, {"type": "array", "items": _TEXT}]}


def _may_be_text(schema: dict[str, Any]) -> None:
    schema["additionalProperties"] = {"anyOf": [_TEXT, schema["additionalProperties"]]}


Goals = Annotated[dict[StrictStr, Goal], BeforeValidator(_goals), WithJsonSchema(_GOALS_SCHEMA)]


class TuneSection(Cases):
    """Parameters of a design, what is to be small or large, and what must hold in the cases."""

    parameters: dict[StrictStr, Bounded] = Field(
        default_factory=dict, description="parameters by name, each with its bounds"
    )
    minimize: Goals = Field(
        default_factory=dict, description="a metric, or several by name, each with its weight"
    )
    maximize: Goals = Field(default_factory=dict, description="the same, to be large")
    aggregate: Aggregate = Field(
        "worst", description="of the objective over the cases: worst, mean or a quantile"
    )
    constraints: Annotated[
        dict[StrictStr, Annotated[Constraint, BeforeValidator(_compared)]],
        Field(json_schema_extra=_may_be_text),
    ] = Field(default_factory=dict, description="by name, metrics with min, max or equal")
    claims: Annotated[Any, BeforeValidator(_claims), WithJsonSchema(_CLAIMS_SCHEMA)] = Field(
        (), description="claims of expect: that must hold, by name, or all"
    )
    frequency: dict[StrictStr, FrequencySection] = Field(
        default_factory=dict, description="by name, loops and transfers, and what is asked of them"
    )
    points: dict[StrictStr, PointSection] = Field(
        default_factory=dict, description="operating points by name; start is the initial state"
    )
    search: Literal["gradient", "derivative-free"] = Field(
        "gradient", description="by exact derivatives, or by values alone"
    )
    samples: Whole = Field(
        32, le=100_000, description="points between the bounds that are tried before the search"
    )
    searches: Annotated[int, Field(strict=True, ge=1, le=1000)] = Field(
        2, description="searches, each from one of the best of these points and of the start"
    )
    iterations: Annotated[int, Field(strict=True, ge=1)] = Field(
        100, description="largest number of steps of a search"
    )

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        both = self.minimize.keys() & self.maximize.keys() - {OBJECTIVE}
        if both:
            raise ValueError(f"{min(both)} is to be small and large")
        if self.minimize and self.maximize and OBJECTIVE in {*self.minimize, *self.maximize}:
            raise ValueError("with both minimize and maximize, their parts need names")
        twice = {*self.minimize, *self.maximize} & self.constraints.keys()
        if twice:
            raise ValueError(f"{min(twice)} is the name of an objective and of a constraint")
        varied = self.parameters.keys() & self.over.keys()
        if varied:
            raise ValueError(f"{min(varied)} is tuned, and varies under over")
        return self

    @model_validator(mode="after")
    def _known_points(self) -> Self:
        known = {START, *self.points}
        for name, one in self.frequency.items():
            for point in one.points:
                if point not in known:
                    hint = ", ".join(sorted(known))
                    raise ValueError(f"frequency: {name}: there is no point {point!r}, only {hint}")
        return self

    def metrics(self) -> dict[str, str]:
        """The formulas of the objective and of the constraints, by name."""
        goals = {**self.minimize, **self.maximize}
        found = {name: one.metric for name, one in goals.items()}
        return found | {name: one.metric for name, one in self.constraints.items()}

    def keys(self, name: str) -> tuple[str, ...]:
        """Where a part of the objective or a constraint is written."""
        groups = ("minimize", "maximize", "constraints")
        group = next(one for one in groups if name in getattr(self, one))
        return (group,) if name == OBJECTIVE else (group, name)


def check_tune(section: TuneSection, wiring: Wiring) -> None:
    """Add the companions whose signals the metrics measure, such as plant.umdot."""
    for name, text in section.metrics().items():
        for signal in names_in(text):
            wiring.ask(signal, wiring.document.place("tune", *section.keys(name)))
    for name, one in section.frequency.items():
        for signal in one.signals():
            wiring.ask(signal, wiring.document.place("tune", "frequency", name))
