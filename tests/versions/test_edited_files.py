"""Edits of files: the meaning stays, nothing is lost, and the command."""

from __future__ import annotations

import codecs
from pathlib import Path

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base import document
from spart_blocks.base.errors import DiagramError, InputError
from spart_blocks.cli import main
from spart_blocks.versions import edits

ROOT = Path(__file__).parents[2]
LOOP = """\
params: {k: 3} # 1/s
blocks:
  goal: {type: STEP, T: 0, on: 1}
  error: {type: SUM, signs: "+-"}
  gain: {type: GAIN, K: $k}
  x: {type: INTEGRATOR}
wires: [goal -> error.0, error -> gain, gain -> x, x -> error.1]
run: {T: 1, log: [x, gain]}
"""


@pytest.fixture
def loop(tmp_path, monkeypatch):
    monkeypatch.setenv("SPART_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "loop.yaml"
    path.write_text(LOOP)
    return path


def test_renamed_and_grouped_blocks_run_as_before(loop):
    before = sb.simulate(loop, every=0.1, engine="interpreter")
    edits.edit(loop, [edits.RenameBlock("x", "y"), edits.RenameParameter("k", "rate"),
                      edits.Group("control", ("error", "gain"))])  # fmt: skip
    after = sb.simulate(loop, every=0.1, engine="interpreter")
    np.testing.assert_array_equal(before["x"], after["y"])
    np.testing.assert_array_equal(before["gain"], after["control/gain"])


@pytest.mark.parametrize(
    ("name", "old", "inside"),
    [("spacecraft_controllers", "controller", ""), ("spacecraft_pd", "ctrl", ""),
     ("loops/four_bar", "bar", ""), ("space/satellite", "filter", "computer")],
)  # fmt: skip
def test_a_shipped_diagram_still_loads_with_a_renamed_block(name, old, inside, tmp_path):
    path = ROOT / "diagrams" / f"{name}.yaml"
    found = edits.changed(path, edits.RenameBlock(old, "other", inside))
    assert found.edited.after != found.edited.before


def test_a_mistake_is_told_and_nothing_is_written(loop):
    with pytest.raises(DiagramError, match="no block type 'GAINN'"):
        edits.edit(loop, edits.Retype("gain", "GAINN"))
    assert loop.read_text() == LOOP
    edits.edit(loop, edits.Retype("gain", "GAINN"), check=False)
    assert "GAINN" in loop.read_text()
    edits.edit(loop, edits.Retype("gain", "GAIN"))  # from a diagram with mistakes anything goes


HALF = [
    ("blocks.gian.K=2", "there is no block 'gian'", "did you mean 'gain'?"),
    ("blocks.zz.K=2", "there is no block 'zz'", "add zz TYPE makes a block"),
    ("blocks.zz=2", "there is no block 'zz'", "add zz TYPE"),
    ("blocks.gain=2", "blocks.gain holds several values", "name one of them"),
    ("blocks.my gain.type=GAIN", "the name 'my gain' has a space", ""),
    ("blocks..K=2", "the path 'blocks..K' has an empty name", ""),
    ("clocks.c.offset=0.1", "there is no clock 'c'", "period T or its rate"),
    ("robots.arm.base=fixed", "there is no robot 'arm'", "give a new robot its urdf"),
    ("variants.law.default=x", "there is no variant 'law'", "its default and its choices"),
    ("subsystems.s.blocks.a.K=2", "there is no subsystem 's'", "group makes a subsystem"),
    ("subsystems.part.blocks.a.K=2", "there is no block 'a' in subsystems.part",
     "add a TYPE --in part makes a block"),
    ("expect.final[0].within=0.1", "expect.final is no list that has an item [0]",
     "append expect.final=VALUE"),
    ("expect.final.last.within=0.1", "expect.final must be a list", ""),
    ("run.solver.name=rk4", "run.solver must be", ""),
    ("sweep.vary.k=3", "unknown key 'vary' in sweep", "did you mean 'every'?"),
]  # fmt: skip


@pytest.mark.parametrize(("setting", "told", "hint"), HALF)
@pytest.mark.parametrize("mistaken", [True, False])
def test_a_set_makes_no_half_of_an_entry_also_in_a_file_with_mistakes(
    loop, capsys, setting, told, hint, mistaken
):
    part = "subsystems: {part: {inputs: [u], outputs: [y], wires: [in.u -> out.y]}}\n"
    text = part + (LOOP.replace("gain -> x", "gian -> x") if mistaken else LOOP)
    loop.write_text(text)
    assert main(["edit", str(loop), "set", setting]) == 2
    shown = capsys.readouterr().err
    assert told in shown
    assert hint in shown
    assert loop.read_text() == text


@pytest.mark.parametrize(
    "setting",
    ["blocks.gain.K=4", "clocks.c.T=0.1", "clocks.c={rate: 10}", "clocks.c.rate=$k", "params.j=1",
     "blocks.two.type=GAIN", "blocks.gain={type: GAIN, K: 2}", "run.every=0.1",
     "expect.baseline.samples=5"],
)  # fmt: skip
def test_a_set_makes_a_whole_entry_also_in_a_file_with_mistakes(loop, setting):
    loop.write_text(LOOP.replace("gain -> x", "gian -> x"))
    before = document.read_document(loop).data
    assert main(["edit", str(loop), "set", setting]) == 0
    assert document.read_document(loop).data != before


def test_a_file_that_another_process_has_changed_is_not_overwritten(loop):
    found = edits.changed(loop, edits.Set("k", 4))
    loop.write_text(LOOP + "# mine\n")
    with pytest.raises(InputError, match="has been changed since it was read"):
        edits.write(found)
    assert loop.read_text() == LOOP + "# mine\n"


def test_edits_are_undone_one_by_one(loop):
    edits.edit(loop, edits.Set("k", 4))
    middle = loop.read_text()
    edits.edit(loop, edits.RenameBlock("x", "y"))
    assert edits.undo(loop)
    assert loop.read_text() == middle
    assert edits.undo(loop)
    assert loop.read_text() == LOOP
    assert not edits.undo(loop)


def test_an_edit_is_not_undone_in_a_file_changed_by_others(loop):
    edits.edit(loop, edits.Set("k", 4))
    loop.write_text(loop.read_text() + "# mine\n")
    with pytest.raises(InputError, match="cannot be undone"):
        edits.undo(loop)


def test_bytes_before_the_text_stay(loop):
    loop.write_bytes(codecs.BOM_UTF8 + LOOP.replace("\n", "\r\n").encode())
    edits.edit(loop, edits.Set("k", 4))
    wanted = LOOP.replace("k: 3", "k: 4").replace("\n", "\r\n").encode()
    assert loop.read_bytes() == codecs.BOM_UTF8 + wanted
    assert edits.undo(loop)
    assert loop.read_bytes() == codecs.BOM_UTF8 + LOOP.replace("\n", "\r\n").encode()


def test_the_command_edits_and_undoes(loop, capsys):
    assert main(["edit", str(loop), "set", "k=5", "run.T=2"]) == 0
    assert "2 lines changed" in capsys.readouterr().err
    words = ["edit", str(loop), "add", "scope", "SCOPE", "labels=[x]"]
    assert main(words) == 2  # nothing leads to it
    assert main([*words, "--wire", "x -> scope"]) == 0
    assert main(["edit", str(loop), "unwire", "x -> scope", "--unchecked"]) == 0
    assert main(["edit", str(loop), "wire", "x -> scope"]) == 0
    assert sb.load(loop).run.T == 2
    for _ in range(4):
        assert main(["edit", str(loop), "undo"]) == 0
    assert loop.read_text() == LOOP
    assert main(["edit", str(loop), "undo"]) == 2


def test_the_command_checks_blocks_of_your_own(loop, tmp_path, capsys):
    (tmp_path / "mine.py").write_text(
        "from bdsim.components import FunctionBlock\n\n\n"
        "class EditedGain(FunctionBlock):\n"
        "    nin = nout = 1\n\n"
        "    def __init__(self, k=1, **blockargs):\n"
        "        super().__init__(**blockargs)\n"
        "        self.k = k\n\n"
        "    def output(self, t, inputs, x):\n"
        "        return [self.k * inputs[0]]\n"
    )
    named = ["--blocks", str(tmp_path / "mine.py")]
    words = ["edit", str(loop), "add", "more", "EDITEDGAIN", "--wire", "x -> more"]
    assert main([*words, "kk=2", *named]) == 2
    assert "unknown parameter 'kk'" in capsys.readouterr().err
    assert main([*words, "k=2", *named]) == 0
    assert "more: {type: EDITEDGAIN, k: 2}" in loop.read_text()


def test_the_command_adds_changes_and_removes_items_of_lists(loop, capsys):
    claim = "expect.final={signal: x, value: 1, within: 0.5}"
    assert main(["edit", str(loop), "append", claim]) == 0
    assert loop.read_text().endswith(
        "expect:\n  final:\n    - {signal: x, value: 1, within: 0.5}\n"
    )
    assert main(["edit", str(loop), "set", "expect.final[0].within=0.25"]) == 0
    assert "within: 0.25}" in loop.read_text()
    assert main(["edit", str(loop), "append", claim.replace("x", "nothing")]) == 2
    assert "nothing" in capsys.readouterr().err
    assert main(["edit", str(loop), "unset", "expect.final[0]"]) == 0
    assert loop.read_text().endswith("expect:\n  final: []\n")


def test_a_dry_run_prints_the_lines_and_writes_nothing(loop, capsys):
    assert main(["edit", str(loop), "set", "k=5", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "-params: {k: 3} # 1/s\n+params: {k: 5} # 1/s\n" in shown
    assert loop.read_text() == LOOP


@pytest.mark.parametrize(
    ("words", "told"),
    [(["set"], "write set PATH=VALUE"), (["set", "k"], "is not NAME=VALUE"),
     (["wire", "x -> nothing"], "nothing"), (["undo", "k"], "undo takes the file alone"),
     (["rename", "x"], "write rename OLD NEW"), (["set", "k=1", "--in", "a"], "whole path")],
)  # fmt: skip
def test_wrong_words_are_told(loop, words, told, capsys):
    assert main(["edit", str(loop), *words]) == 2
    assert told in capsys.readouterr().err
    assert loop.read_text() == LOOP


@pytest.mark.parametrize("raw", [b"\xff\xfe\x00", b"a: [1", b"- 1\n", b""])
def test_a_file_that_cannot_be_read_is_told(loop, raw, capsys):
    loop.write_bytes(raw)
    assert main(["edit", str(loop), "set", "k=1"]) == 2
    assert "Traceback" not in capsys.readouterr().err
    assert main(["edit", str(loop.parent), "set", "k=1"]) == 2


def test_a_file_that_is_too_large_is_not_read_in_part(loop, monkeypatch):
    loop.write_text("params: {k: 1} # " + "ü" * 100, encoding="utf-8")
    monkeypatch.setattr(document, "MAX_BYTES", 199)
    with pytest.raises(DiagramError, match="larger than 199 bytes"):
        edits.edit(loop, edits.Set("k", 2))


def test_the_place_of_other_text_than_utf_8_is_told(loop):
    loop.write_bytes(b"params:\n  k: \xff\n")
    with pytest.raises(DiagramError, match="not UTF-8") as caught:
        edits.edit(loop, edits.Set("k", 2))
    assert (caught.value.faults[0].place.line, caught.value.faults[0].place.column) == (2, 6)
