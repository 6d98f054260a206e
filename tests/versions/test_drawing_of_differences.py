"""The picture of a diff: every block and wire once, by what became of it."""

from __future__ import annotations

import re

import pytest

from spart_blocks.cli import main
from spart_blocks.versions.differences import difference_of, two_sides, union_of

OLD = """
subsystems:
  part:
    inputs: [u]
    outputs: [y]
    blocks: {g: {type: GAIN, K: 1}}
    wires: [in.u -> g, g -> out.y]
blocks:
  t: {type: TIME}
  gone: {type: GAIN, K: 1}
  kept: {type: GAIN, K: 2}
  old: {type: INTEGRATOR}
  p: {type: part}
  s: {type: SCOPE}
wires: [t -> gone, gone -> kept, kept -> old, old -> p, p -> s, t -> s]
"""
NEW = OLD.replace("  gone: {type: GAIN, K: 1}\n", "  clip: {type: CLIP, min: 0, max: 1}\n")
NEW = NEW.replace("t -> gone, gone -> kept", "t -> clip, clip -> kept").replace("old", "new")
NEW = NEW.replace("{g: {type: GAIN, K: 1}}", "{g: {type: GAIN, K: 3}}")


@pytest.fixture
def unions(tmp_path):
    """unions(old, new): the sheets of the picture."""

    def unions(old, new):
        paths = tmp_path / "old.yaml", tmp_path / "new.yaml"
        for path, text in zip(paths, (old, new), strict=True):
            path.write_text(text)
        with two_sides(*paths) as sides:
            return union_of(*sides, difference_of(*sides))

    return unions


def test_each_block_is_drawn_once_with_its_state(unions):
    top, part = unions(OLD, NEW)
    assert {block.name: block.state for block in top.blocks} == {
        "t": "common",
        "clip": "added",
        "gone": "removed",
        "kept": "common",
        "old → new": "changed",
        "p": "changed",
        "s": "common",
    }
    assert part.title == "part"
    assert {block.name: block.state for block in part.blocks} == {
        "g": "changed",
        "in": "common",
        "out": "common",
    }


def test_each_wire_is_drawn_once_with_its_state(unions):
    top, _ = unions(OLD, NEW)
    names = [block.name for block in top.blocks]
    wires = {(names[one.source], names[one.target]): one.state for one in top.wires}
    assert len(wires) == len(top.wires)
    assert wires == {
        ("t", "clip"): "added",
        ("clip", "kept"): "added",
        ("t", "gone"): "removed",
        ("gone", "kept"): "removed",
        ("kept", "old → new"): "common",
        ("old → new", "p"): "common",
        ("p", "s"): "common",
        ("t", "s"): "common",
    }


def test_of_a_large_diagram_the_changes_and_their_neighbours_are_drawn(unions):
    def chain(gain):
        blocks = "".join(
            f"  b{k}: {{type: GAIN, K: {gain if k == 500 else 1}}}\n" for k in range(900)
        )
        wires = ", ".join(f"b{k} -> b{k + 1}" for k in range(899))
        return f"blocks:\n{blocks}wires: [{wires}]\n"

    (top,) = unions(chain(1), chain(2))
    assert [block.name for block in top.blocks] == ["b499", "b500", "b501"]
    assert top.hidden == 897


def test_the_file_has_signs_and_a_legend(tmp_path, unions):
    unions(OLD, NEW)
    picture = tmp_path / "picture.svg"
    files = [str(tmp_path / "old.yaml"), str(tmp_path / "new.yaml")]
    assert main(["diff", *files, "--svg", str(picture)]) == 1
    text = picture.read_text()
    assert main(["diff", *files, "--svg", str(picture)]) == 1
    assert picture.read_text() == text  # the same bytes each time
    words = re.findall(r">([^<>]+)</text>", text)
    assert {"in both", "added", "removed", "changed", "+", "−", "~", "old → new"} <= set(words)
    assert text.count('id="block ') == 10
    assert "stroke-dasharray" in text


def test_a_picture_of_another_type_is_refused(tmp_path, unions, capsys):
    unions(OLD, NEW)
    files = [str(tmp_path / "old.yaml"), str(tmp_path / "new.yaml")]
    assert main(["diff", *files, "--svg", str(tmp_path / "picture.gif")]) == 2
    assert "--svg" in capsys.readouterr().err
