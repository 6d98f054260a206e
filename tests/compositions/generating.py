"""Diagrams from seeds: the same on every machine."""

from __future__ import annotations

from typing import Any

import yaml

from compositions import continuous, sampled, sources, structures
from compositions.drafting import Draft, new_draft

PURE = 3
"""Every third seed is purely sampled, so that the reference can run it."""


def is_pure(seed: int) -> bool:
    return seed % PURE == 0


def unit_of(seed: int) -> float:
    """The unit of time [s] of a seed's diagram."""
    return new_draft(seed, is_pure(seed)).base


def diagram_of(seed: int, small: bool = False) -> dict[str, Any]:
    """The diagram of a seed, as the mapping that its YAML says; small: of few blocks."""
    d = new_draft(seed, is_pure(seed))
    draw = d.draw
    most = 8 if small else draw.choice([12, 25, 45])
    for _ in range(draw.randint(1, 3)):
        sources.add_source(d)
    for _ in range(draw.randint(1, 2 if small else 4)):
        (sampled.add_delay if d.pure or draw.random() < 0.5 else continuous.add_state)(d)
    kinds = [sources.add_source, sampled.add_sampled, sampled.add_sampled, sampled.add_function]
    if not d.pure:
        kinds += [continuous.add_continuous, structures.add_bus, structures.add_copies]
        kinds += [structures.add_conditional] * 2
        if draw.random() < (0.1 if small else 0.3):
            kinds.append(structures.add_loop)
        if draw.random() < 0.3:
            kinds.append(structures.add_variant)
    kinds.append(structures.add_machine)
    if not d.pure and not small and draw.random() < 0.15:
        structures.add_robot(d)
    while len(d.blocks) < most:
        draw.choice(kinds)(d)
    for name, reads in d.late:
        u = d.pick(calm=reads == "calm")
        d.wires.append(f"{u.name} -> {name}")
    return finished(d, seed, small)


def finished(d: Draft, seed: int, small: bool) -> dict[str, Any]:
    """With the section on the run: its end, what is kept, how exact."""
    draw, run = d.draw, d.content.setdefault("run", {})
    steps = draw.randint(6, 10 if small else 24)
    run["T"] = d.time(steps, steps) if draw.random() < 0.8 else round(steps * d.base + 0.0173, 10)
    run["log"] = [signal.name for signal in d.signals]
    run |= {"rtol": 1e-9, "atol": 1e-11, "max_step": round(run["T"] / (4 if small else 20), 10)}
    if d.pure:
        del run["rtol"], run["atol"], run["max_step"]
    return {"name": f"composition-{seed}", **d.content}


def text_of(diagram: dict[str, Any]) -> str:
    return yaml.safe_dump(diagram, sort_keys=False, default_flow_style=None, width=100)
