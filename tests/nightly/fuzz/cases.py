"""What a format is to the runner: how its cases are drawn, and what is tried with each."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Case:
    """Broken input. files: by their paths in the ground, a copy of models/ and diagrams/.
    options: how they are read, as JSON has them."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    def put(self, ground: Path) -> None:
        for name, raw in self.files.items():
            path = ground / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(raw)

    def keep(self, folder: Path) -> None:
        """Save it for who mends what it broke."""
        self.put(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "options.json").write_text(json.dumps(self.options, indent=1, default=repr))


@dataclass(frozen=True)
class Format:
    """name: by which it is asked for. share: of all cases. draw: a case. attempt: reads it,
    with its files in the ground, and tells in a word what came of it; what it raises besides
    the errors of the package is a failure."""

    name: str
    share: float
    draw: Callable[[random.Random], Case]
    attempt: Callable[[Case, Path], str]

    def case(self, seed: int, number: int) -> Case:
        """The case of this number, which is the same each time."""
        return self.draw(random.Random(f"{seed}/{self.name}/{number}"))
