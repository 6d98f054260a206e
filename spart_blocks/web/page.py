"""The user's functions for pages that run a diagram."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spart_blocks.animation.animate import HEIGHT, View
from spart_blocks.animation.page import ALLOWED, packed_page
from spart_blocks.base.web_build import VIEWER, Say, built
from spart_blocks.diagram import as_diagram
from spart_blocks.web.runnable import Runnable

if TYPE_CHECKING:
    from spart_blocks.diagram import Diagram

RUNS = ALLOWED.replace("'unsafe-inline'", "'unsafe-inline' 'wasm-unsafe-eval' blob:", 1)
POLICY = f"{RUNS}; worker-src blob:"
"""Of a page that compiles WebAssembly and has threads."""


def live(diagram: Diagram | str | Path | Any, *, height: int = HEIGHT) -> View:
    """A page that runs a diagram in the browser, without Python, as a view for a notebook;
    save(path) writes it as one HTML file.

    diagram: a loaded diagram, a YAML file, or bdsim's BlockDiagram. height [px]. Raises InputError
    with the reason for a diagram that lanes of sweeps cannot run either, and NoCompilerError
    without the package ziglang.
    """
    return View(page_of_runs([Runnable.of(as_diagram(diagram))]), height)


def page_of_runs(made: Sequence[Runnable], say: Say | None = None) -> str:
    """The self-contained page of a diagram, or of its variants, the first of which is shown first.
    say: called with messages if the page's script has to be built first.
    """
    script = built(VIEWER, say).with_name(
        "live.js" if any(one.plants for one in made) else "flat.js"
    )
    parts: dict[str, Any] = {"spartModels": [{**one.data, "variant": _title(one)} for one in made]}
    for k, one in enumerate(made):
        parts[f"spartModule{k}"] = one.module
        if one.when_stiff is not None:
            parts[f"spartStiff{k}"] = one.when_stiff.module
    return packed_page(made[0].program.name, parts, script, POLICY)


def _title(one: Runnable) -> str:
    return ", ".join(one.diagram.variants.values())
