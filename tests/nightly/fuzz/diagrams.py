"""Diagrams: every file of diagrams/, with values, keys and blocks that are others. What loads
is run for an instant, block by block, and some of it is traced."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path
from typing import Any

from fuzz.cases import PROJECT, Case, Format
from fuzz.damage import bent, odd_value, spoilt, yaml_text

INSTANT = 1e-4  # s of simulated time
# Those of many bodies: tracing one takes seconds, so that few are drawn.
_LARGE = ("delta_pick_and_place", "stewart_platform", "andrews_squeezer")


@cache
def sound() -> dict[str, tuple[bytes, Any]]:
    """The shipped diagrams and files of blocks by their paths: as bytes and as trees."""
    from spart_blocks.base.document import read_document

    found = {}
    for path in sorted((PROJECT / "diagrams").rglob("*.yaml")):
        found[str(path.relative_to(PROJECT))] = (path.read_bytes(), read_document(path).data)
    return found


def draw(chance: random.Random) -> Case:
    name = chance.choice(list(sound()))
    if any(large in name for large in _LARGE) and chance.random() < 0.8:
        name = chance.choice(list(sound()))
    raw, tree = sound()[name]
    if chance.random() < 0.1:
        text = spoilt(raw, chance)
    elif chance.random() < 0.3:
        text = yaml_text(_odd_parameter(tree, chance))
    else:
        text = yaml_text(bent(tree, chance))
    written = name if name.startswith("diagrams/controllers") else f"{name[:-5]}-fuzzed.yaml"
    return Case({written: text}, {"file": written, "number": chance.randrange(10**6)})


def _odd_parameter(tree: Any, chance: random.Random) -> Any:
    """One parameter of one block is odd: of those it has, or could have."""
    from spart_blocks.diagram.build.registry import find_type

    blocks = {k: v for k, v in (tree.get("blocks") or {}).items() if "type" in v}
    if not blocks:
        return bent(tree, chance)
    name = chance.choice(list(blocks))
    kind = find_type(blocks[name]["type"])
    known = [p for p in (kind.parameters if kind else {}) if p not in ("robot", "clock")]
    key = chance.choice(known or ["x"])
    changed = {**blocks[name], key: odd_value(chance)}
    return {**tree, "blocks": {**tree["blocks"], name: changed}}


def attempt(case: Case, ground: Path) -> str:
    from spart_blocks.diagram import load

    file = ground / case.options["file"]
    if "controllers" in case.options["file"]:
        file = ground / "diagrams/spacecraft_controllers.yaml"
    try:
        return examined(load(file), case.options["number"])
    finally:
        _restore(case, ground)


def _restore(case: Case, ground: Path) -> None:
    for name in case.files:
        if (PROJECT / name).exists():
            (ground / name).write_bytes((PROJECT / name).read_bytes())


def examined(diagram: Any, number: int) -> str:
    """Of what loads, some is traced and some is run."""
    if number % 16 == 0:
        from spart_blocks.program import trace

        trace(diagram)
        return "traced"
    if number % 16 <= 4:
        ran(diagram)
        return "ran"
    return "loaded"


def ran(diagram: Any, **more: Any) -> Any:
    """Run a diagram for an instant, and interrupt it as a user would where that takes long."""
    import time

    import spart_blocks as sb

    ends = time.process_time() + 1.0

    def interrupt(t: float, T: float) -> None:
        if time.process_time() > ends:
            raise KeyboardInterrupt

    return sb.simulate(
        diagram, **{"T": INSTANT, "every": INSTANT / 2, "engine": "interpreter"} | more,
        progress=interrupt,
    )  # fmt: skip


FORMAT = Format("diagrams", 16, draw, attempt)
