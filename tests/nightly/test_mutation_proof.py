"""The shipped diagrams' tests notice what goes wrong: a proof by mutation.

Each number that a shipped diagram or a controller of it gives its blocks, and each mass of its
robots, times 1.05; each wire from another signal of its shape; each wire and each sign of a
sum flipped; rtol times 1e3. A mutant whose kept signals all stay within the tolerances that
the diagram's baseline states is equivalent, and listed. Of the others, the diagrams' own
`expect:` sections must catch 95 %.

    python tests/nightly/test_mutation_proof.py            # all, with the lists
    python tests/nightly/test_mutation_proof.py dual_arm signals/bouncing_ball   # these
    pytest tests/nightly/test_mutation_proof.py
"""

from __future__ import annotations

import copy
import json
import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.document import read_document
from spart_blocks.claims.check import check
from spart_blocks.claims.files import ClaimCase, cases
from spart_blocks.diagram.check.first_values import first_values
from spart_blocks.diagram.network.flatten import flatten
from spart_blocks.diagram.written.wires import parse_wire, selection_text
from spart_blocks.run import DiagramFile, begin, finish

ROOT = Path(__file__).parents[2]
DIAGRAMS = [path.stem for path in sorted((ROOT / "diagrams").glob("*.yaml"))]
WANTED = 0.95
FACTOR = 1.05
LOOSER = 1e3
MOST_STEPS = 50_000  # the diagrams take some thousands
MOVES = 2  # signals that each wire is moved to
STRUCTURE = ("nin", "vector", "nout", "base", "scale")  # numbers that are no quantities


@dataclass(frozen=True)
class Mutant:
    """A change to one file of the project: the file's name, and its new text."""

    what: str
    file: str
    text: str


@dataclass
class Tally:
    """The mutants of a diagram by what became of them."""

    caught: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    survived: list[str] = field(default_factory=list)
    equivalent: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        """The share of those that differ which are caught."""
        caught = len(self.caught) + len(self.refused)
        return caught / max(1, caught + len(self.survived))


# --- mutants ------------------------------------------------------------------------------


def mutants(project: Path, case: ClaimCase) -> Iterator[Mutant]:
    """Every mutant of a diagram: of its own file, its controllers' and its robots'. Of a
    choice that is not the default: of the controller's own."""
    file = case.path.resolve().relative_to(project.resolve()).as_posix()
    data = read_document(project / file).data
    chosen = {slot: section["default"] for slot, section in data.get("variants", {}).items()}
    chosen |= dict(text.split("=") for text in case.variants)
    if not case.variants:
        yield from _of_document(file, data, _shapes(project / file))
        rtol = data["run"].get("rtol", 1e-6)
        looser = {**data, "run": {**data["run"], "rtol": rtol * LOOSER}}
        yield Mutant(f"rtol {rtol:g} -> {rtol * LOOSER:g}", file, json.dumps(looser))
        for robot in data.get("robots", {}).values():
            yield from _masses(project, f"models/{Path(robot['urdf']).name}")
    for slot, choice in chosen.items():
        keys = ("variants", slot, "choices", choice)
        block = data["variants"][slot]["choices"][choice]
        for path, value in _numbers(block, keys):
            what = f"{_dotted(path)} x {FACTOR}"
            yield Mutant(what, file, json.dumps(_with(data, path, value * FACTOR)))
        if "use" in block:
            part = (Path(file).parent / block["use"]).as_posix()
            yield from _of_document(part, read_document(project / part).data, None)


def _of_document(file: str, data: dict[str, Any], shapes: Any) -> Iterator[Mutant]:
    for what, changed in _changes(data, shapes):
        yield Mutant(f"{file}: {what}", file, json.dumps(changed))  # JSON is YAML


def _changes(data: dict[str, Any], shapes: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for section in ("params", "blocks", "subsystems", "clocks"):
        for keys, value in _numbers(data.get(section, {}), (section,)):
            yield f"{_dotted(keys)} x {FACTOR}", _with(data, keys, value * FACTOR)
    for keys, level in _levels(data):
        yield from _signs(data, keys, level)
        yield from _flips(data, keys, level)
        if shapes is not None and not keys:
            yield from _moves(data, level, shapes)


def _numbers(value: Any, keys: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], float]]:
    """Every number that is a quantity, with its path; zero times anything stays zero."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key not in STRUCTURE and (len(keys), key) != (4, "type"):
                yield from _numbers(item, (*keys, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _numbers(item, (*keys, index))
    elif isinstance(value, int | float) and not isinstance(value, bool) and value:
        yield keys, value


def _levels(data: dict[str, Any]) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """The diagram's own blocks and wires, and those of its subsystems."""
    yield (), data
    for name, section in data.get("subsystems", {}).items():
        yield ("subsystems", name), section


def _signs(data: Any, keys: tuple[Any, ...], level: Any) -> Iterator[tuple[str, Any]]:
    for name, block in level["blocks"].items():
        signs = block.get("signs", "") if block.get("type") == "SUM" else ""
        for k, sign in enumerate(signs):
            other = signs[:k] + ("-" if sign == "+" else "+") + signs[k + 1 :]
            path = (*keys, "blocks", name, "signs")
            yield f"{_dotted(path)} {signs} -> {other}", _with(data, path, other)


def _flips(data: Any, keys: tuple[Any, ...], level: Any) -> Iterator[tuple[str, Any]]:
    """Each end of each wire through a gain of minus one; those of scopes are left alone."""
    shown = {name for name, block in level["blocks"].items() if block.get("type") == "SCOPE"}
    for number, source, end in _ends(level):
        if end.block not in shown:
            wires = _without_end(level["wires"], number, end)
            wires += [f"{_text(source)} -> flip", f"flip -> {_text(end)}"]
            blocks = {**level["blocks"], "flip": {"type": "GAIN", "K": -1}}
            changed = _with(_with(data, (*keys, "wires"), wires), (*keys, "blocks"), blocks)
            yield f"{_dotted(keys)} -1 in {_text(source)} -> {_text(end)}", changed


def _moves(data: Any, level: Any, shapes: Any) -> Iterator[tuple[str, Any]]:
    """Each end of each wire from other signals of its shape."""
    shown = {name for name, block in level["blocks"].items() if block.get("type") == "SCOPE"}
    sources = dict.fromkeys(_text(source) for _, source, _ in _ends(level))
    for number, source, end in _ends(level):
        own = _text(source)
        others = [s for s in sources if s != own and shapes.get(s) == shapes.get(own, 0)]
        for other in others[:MOVES] if end.block not in shown else ():
            wires = [*_without_end(level["wires"], number, end), f"{other} -> {_text(end)}"]
            yield f"{own} -> {_text(end)} from {other}", _with(data, ("wires",), wires)


def _ends(level: Any) -> Iterator[tuple[int, Any, Any]]:
    for number, text in enumerate(level["wires"]):
        wire = parse_wire(text)
        yield from ((number, wire.source, end) for end in wire.ends)


def _without_end(wires: list[str], number: int, end: Any) -> list[str]:
    wire = parse_wire(wires[number])
    left = ", ".join(_text(other) for other in wire.ends if other != end)
    kept = [f"{_text(wire.source)} -> {left}"] if left else []
    return [*wires[:number], *kept, *wires[number + 1 :]]


def _text(end: Any) -> str:
    port = f".{end.port}" if end.port is not None else ""
    return end.block + port + (selection_text(end.selection) if end.selection is not None else "")


def _masses(project: Path, file: str) -> Iterator[Mutant]:
    text = (project / file).read_text(encoding="utf-8")
    for number, found in enumerate(re.finditer(r'<mass value="([^"]+)"', text)):
        if float(found[1]):
            mass = f'<mass value="{float(found[1]) * FACTOR!r}"'
            changed = text[: found.start()] + mass + text[found.end() :]
            yield Mutant(f"{file}: mass {number} ({found[1]} kg) x {FACTOR}", file, changed)


def _shapes(file: Path) -> dict[str, Any]:
    diagram = sb.load(file)
    return dict(first_values(flatten(diagram.bd), "")[0])


def _dotted(keys: tuple[Any, ...]) -> str:
    return ".".join(map(str, keys))


def _with(data: Any, keys: tuple[Any, ...], value: Any) -> Any:
    data = copy.deepcopy(data)
    holder = data
    for key in keys[:-1]:
        holder = holder[key]
    holder[keys[-1]] = value
    return data


# --- what becomes of them -------------------------------------------------------------------


def tallied(name: str, project: Path) -> Tally:
    """Run every mutant of a diagram in a copy of the project."""
    file = project / "diagrams" / f"{name}.yaml"
    data = read_document(file).data
    stated = data["expect"]["baseline"] or {}
    tolerances = stated.get("rtol", 1e-4), stated.get("atol", 1e-6)
    # Both engines run the same mutant: whether they agree says nothing about it.
    data["expect"].pop("engines", None)
    file.write_text(json.dumps(data), encoding="utf-8")
    tally = Tally()
    for case in cases(file):
        assert check(case).passed, f"{case.name} fails as it is"
        original = _run(case)
        for mutant in mutants(project, case):
            path = project / mutant.file
            kept = path.read_bytes()
            path.write_text(mutant.text, encoding="utf-8")
            try:
                fate = _fate(case, original, *tolerances)
            finally:
                path.write_bytes(kept)
            getattr(tally, fate).append(f"{' '.join(case.variants)} {mutant.what}".strip())
    return tally


def _run(case: ClaimCase) -> sb.Results:
    """The results; RunError for a mutant that diverges, and would take ever more steps."""
    run = begin(DiagramFile(case.path, variants=case.variants))
    run.most_steps = MOST_STEPS
    return finish(run)


def _fate(case: ClaimCase, original: sb.Results, rtol: float, atol: float) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            results = _run(case)
        except sb.SpartError:
            return "refused"  # as the test would be
        if _equivalent(results, original, rtol, atol):
            return "equivalent"
        return "survived" if check(case).passed else "caught"


def _equivalent(results: sb.Results, original: sb.Results, rtol: float, atol: float) -> bool:
    """Whether every kept signal, and every state, is the original's within the tolerances."""
    new, old = results.table(), original.table()
    if new.keys() != old.keys() or len(results.t) != len(original.t):
        return False
    return all(
        (np.abs(new[key] - old[key]) <= atol + rtol * np.abs(old[key]).max()).all() for key in old
    )


@pytest.fixture
def project(tmp_path, monkeypatch):
    return put(tmp_path, monkeypatch.setenv)


def put(folder: Path, setenv: Any) -> Path:
    """A copy of the diagrams and their models; its programs are cached beside it, and run on
    CasADi's virtual machine: compiling a mutant takes a hundred times as long as running it."""
    for part in ("diagrams", "models"):
        shutil.copytree(ROOT / part, folder / part)
    (folder / "spart.toml").touch()
    setenv("SPART_CACHE", str(folder / "cache"))
    setenv("SPART_COMPILER", "none")
    return folder


@pytest.mark.parametrize("name", DIAGRAMS)
def test_the_diagram_s_own_test_catches_its_mutants(name, project):
    tally = tallied(name, project)
    assert len(tally.caught) > 10
    assert tally.share >= WANTED, tally.survived


def main(names: list[str]) -> int:
    import os

    total = Tally()
    print(f"{'diagram':24} mutants equivalent refused caught survived  share of those that differ")
    for name in names or DIAGRAMS:
        with tempfile.TemporaryDirectory() as folder:
            tally = tallied(name, put(Path(folder), os.environ.__setitem__))
        lists = [getattr(tally, part) for part in ("equivalent", "refused", "caught", "survived")]
        counts = [len(part) for part in lists]
        print(f"{name:24} {sum(counts):7} {counts[0]:10} {counts[1]:7} {counts[2]:6} "
              f"{counts[3]:8}  {tally.share:.1%}", flush=True)  # fmt: skip
        for what in tally.equivalent:
            print(f"    equivalent: {what}")
        for what in tally.survived:
            print(f"    SURVIVED: {what}")
        for part in ("equivalent", "refused", "caught", "survived"):
            getattr(total, part).extend(getattr(tally, part))
    print(f"all: {len(total.caught) + len(total.refused)} of "
          f"{len(total.caught) + len(total.refused) + len(total.survived)} mutants that differ "
          f"are caught, {total.share:.1%}; {len(total.equivalent)} are equivalent")  # fmt: skip
    return 0 if total.share >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
