"""The plan of a sweep as text for reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spart_blocks.diagram.sections.sweep_section import Varied
    from spart_blocks.sweeps.plan.plan import Plan

_FEW = 8
"""Count of values that are listed one by one."""


def plan_in_words(plan: Plan) -> Iterator[tuple[str, str]]:
    """Pairs (subject, text) that tell what differs between the runs of a plan."""
    points, variants, faults = plan.counts
    if plan.draws > 1:
        yield "draws", f"{plan.draws:,} (seed {plan.seed}, design {plan.design})"
    if points > 1:
        yield "grid points", f"{points:,}"
    if variants > 1:
        yield "variants", ", ".join(plan.variant_names)
    for fault in plan.faults if faults > 1 else ():
        values = ", ".join(f"{path} = {_text(value)}" for path, value in fault.set.items())
        when = f"from {fault.at:g} s on {values}" if fault.at else f"{values}, from the start"
        yield f"fault {fault.name}", when if fault.set else "no fault"
    for axis in plan.axes:
        for path, listed in zip(axis.paths, axis.lists, strict=True):
            yield path, _listed(listed)
    for factor in plan.factors:
        yield factor.path, drawn_in_words(factor.varied)


def drawn_in_words(varied: Varied) -> str:
    """A distribution as text: its name and its parameters."""
    given = varied.model_dump(mode="json", exclude_defaults=True)
    more = []
    if given.pop("relative", False):
        more.append("times the value of the diagram")
    if given.pop("each", False):
        more.append("a number for each element")
    [(kind, parameters)] = given.items()
    named = [f"{name} {_text(value)}" for name, value in (parameters or {}).items()]
    return ", ".join([kind.replace("_", " "), *named, *more])


def _listed(values: Iterable[Any]) -> str:
    texts = [_text(value) for value in values]
    return ", ".join(texts if len(texts) <= _FEW else [*texts[:4], "...", texts[-1]])


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float | list | tuple):
        return str(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_text, value))}]"
    return f"{value:g}"
