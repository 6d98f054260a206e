"""Claims of `expect:` as constraints of a design: a metric with bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from spart_blocks.base.errors import Fault, InputError, Place, did_you_mean
from spart_blocks.diagram.sections.expectations import OF_ANSWERS, ExpectSection
from spart_blocks.diagram.sections.tune_section import Constraint
from spart_blocks.sweeps.verdicts import claim_names

MOST, LEAST = "most", "least"


def claimed(
    section: ExpectSection | None, asked: Any, place: Place | None
) -> dict[str, Constraint]:
    """The constraints of the claims that a design asks for, by name. asked: names, or "all", which
    leaves out what is no bound of a metric. Raises InputError for unknown claims and for such.
    """
    claims = dict(zip(claim_names(section), section.claims() if section else (), strict=True))
    names = list(claims) if asked == "all" else list(asked)
    found: dict[str, Constraint] = {}
    for name in names:
        if name not in claims:
            hint = did_you_mean(name, claims) or f"they are: {', '.join(claims) or 'none'}"
            raise InputError(Fault(f"expect: has no claim {name!r}", place, hint))
        keys, claim = claims[name]
        bounds = dict(_bounds(str(keys[0]), claim))
        if not bounds and asked != "all":
            text = f"the claim {name!r} is no bound of a metric"
            raise InputError(Fault(text, place, "leave it out, or write a constraint"))
        for word, bound in bounds.items():
            found[name if len(bounds) == 1 else f"{name}, {word}"] = bound
    return found


def _bounds(kind: str, claim: Any) -> Iterator[tuple[str, Constraint]]:
    """The constraints of a claim, with a word for each."""
    if kind == "settles":
        within = _window(since=claim.by, until=claim.until)
        yield from _between(claim, within, _moved(claim.to, -claim.within),
                            _moved(claim.to, claim.within))  # fmt: skip
    elif kind == "stays_within":
        yield from _between(claim, _window(since=claim.since, until=claim.until), claim.low,
                            claim.high)  # fmt: skip
    elif kind == "never_exceeds":
        yield from _between(claim, "", _moved(claim.limit, 0, -1), claim.limit)
    elif kind == "final":
        signal = repr(claim.signal)
        low, high = _moved(claim.value, -claim.within), _moved(claim.value, claim.within)
        yield "", _constraint(f"final({signal})", min=low, max=high)
    elif kind in OF_ANSWERS:
        yield "", _constraint(f"{kind}({claim.signal!r}, {claim.to!r})", max=claim.limit)
    elif kind == "conserved":
        signal = repr(claim.signal)
        yield "", _constraint(f"most({signal}) - least({signal})", max=claim.within)


def _constraint(metric: str, **bounds: Any) -> Constraint:
    return Constraint.model_validate({"metric": metric, **bounds})


def _between(claim: Any, window: str, low: Any, high: Any) -> Iterator[tuple[str, Constraint]]:
    signal = repr(claim.signal)
    if high is not None:
        yield MOST, _constraint(f"most({signal}{window})", max=high)
    if low is not None:
        yield LEAST, _constraint(f"least({signal}{window})", min=low)


def _window(**given: float | None) -> str:
    return "".join(f", {name}={value!r}" for name, value in given.items() if value is not None)


def _moved(value: Any, by: float, times: float = 1) -> Any:
    """Nested values, multiplied and moved."""
    if isinstance(value, tuple | list):
        return tuple(_moved(one, by, times) for one in value)
    return times * value + by
