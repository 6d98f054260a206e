"""What the executions of one diagram say, together."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compositions.comparing import differences, from_reference
from compositions.executing import EXPORTS, executed
from compositions.generating import text_of
from compositions.outcomes import Outcome
from compositions.reference import Reference

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Verdict:
    """agree, or what differs: pairs of executions with a line each; seconds by execution; known:
    the explanation of what differs from the reference, where there is one."""

    differ: tuple[tuple[str, str, str], ...] = ()
    known: str = ""
    error: str = ""
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def outcome(self) -> str:
        if self.differ:
            pair = f"{self.differ[0][0]}/{self.differ[0][1]}"
            return f"known: {self.known}" if self.known else f"differs: {pair}"
        return f"error: {self.error.split(':')[0]}" if self.error else "agree"


def placed(content: dict[str, Any], folder: Path, name: str = "diagram") -> Path:
    """A diagram's file in a project of its own, in which the models are."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "spart.toml").touch()
    models = folder / "models"
    if not models.exists():
        import shutil

        models.mkdir()
        for model in ("spacecraft_3dof.urdf", "four_bar.yaml"):
            shutil.copy(ROOT / "models" / model, models / model)
    path = folder / f"{name}.yaml"
    path.write_text(text_of(content), encoding="utf-8")
    return path


def judged(
    content: dict[str, Any],
    path: Path,
    ways: tuple[str, ...],
    pure: bool,
    every: float | None = None,
) -> Verdict:
    """Run a diagram in these ways; each is compared with the first, lanes with compiled."""
    outcomes: dict[str, Outcome] = {}
    differ: list[tuple[str, str, str]] = []
    for way in ways:
        outcomes[way] = executed(way, path, every)
        if way == ways[0]:
            continue
        if outcomes[way].error.startswith("refused"):
            continue
        if way in EXPORTS:
            lines = [f"error: {outcomes[way].error}"] if outcomes[way].error else []
            differ += [(ways[0], way, line) for line in lines]
            continue
        whom = "compiled" if way == "lanes" and "compiled" in outcomes else ways[0]
        lines = differences(outcomes[way], outcomes[whom], exact=pure)
        differ += [(whom, way, line) for line in lines[:3]]
    known = ""
    if pure and not outcomes[ways[0]].error:
        reference = Reference(content)
        rows = reference.run()
        for way in ways:
            if len(outcomes[way].t) and not (way != ways[0] and way not in EXPORTS):
                lines = from_reference(rows, outcomes[way])
                differ += [("reference", way, line) for line in lines[:3]]
        known = explanation(reference) if differ else ""
    error = outcomes[ways[0]].error
    return Verdict(tuple(differ), known, error, {w: o.seconds for w, o in outcomes.items()})


def explanation(reference: Reference) -> str:
    """Why a run may differ from the reference without a fault of either."""
    return "a comparison of equal values" if reference.tie < 1e-9 else ""
