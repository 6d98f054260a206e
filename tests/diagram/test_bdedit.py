"""Diagrams of bdsim's editor become diagram files that run."""

from __future__ import annotations

import json
from itertools import count

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import DiagramError, InputError
from spart_blocks.diagram.converted.bdedit import from_bdedit
from spart_blocks.diagram.converted.draft import table


class Drawing:
    """A .bd file, socket by socket."""

    def __init__(self):
        self.ids, self.blocks, self.wires = count(1), [], []

    def block(self, kind, title, inputs, outputs, **parameters):
        sides = {
            side: [{"id": next(self.ids), "index": k} for k in range(n)]
            for side, n in (("inputs", inputs), ("outputs", outputs))
        }
        self.blocks.append(
            {
                "id": next(self.ids),
                "block_type": kind,
                "title": title,
                **sides,
                "parameters": [[key, value] for key, value in parameters.items()],
            }
        )
        return sides

    def wire(self, start, end, at=0):
        ends = {"start_socket": start["outputs"][0]["id"], "end_socket": end["inputs"][at]["id"]}
        self.wires.append(ends)

    def write(self, folder):
        path = folder / "My loop.bd"
        path.write_text(json.dumps({"id": 1, "blocks": self.blocks, "wires": self.wires}))
        return path


@pytest.fixture
def loop(tmp_path):
    """A loop with a corner in a wire: x' = 10 (1 - x) / 2."""
    drawing = Drawing()
    step = drawing.block("STEP", "Step Block", 0, 1, T="=1/2", off=0.0, on=1.0)
    error = drawing.block("SUM", "Sum Block", 2, 1, signs="+-", mode=None)
    gain = drawing.block("GAIN", "Gain Block", 1, 1, K="=np.array([10])", premul=False)
    state = drawing.block("INTEGRATOR", "Gain Block", 1, 1, x0=[0], gain=0.5, blockargs=None)
    scope = drawing.block("SCOPE", "Scope Block", 2, 0, scale="auto", styles=None, watch=False)
    corner = drawing.block("CONNECTOR", "", 1, 1)
    drawing.block("MAIN", "main", 0, 0)
    drawing.wire(step, error)
    drawing.wire(error, gain)
    drawing.wire(gain, state)
    drawing.wire(state, corner)
    drawing.wire(corner, error, 1)
    drawing.wire(state, scope, 0)
    drawing.wire(step, scope, 1)
    return drawing.write(tmp_path)


def test_a_drawn_loop_runs(loop, tmp_path):
    text = from_bdedit(loop).text()
    (tmp_path / "loop.yaml").write_text(text)
    results = sb.simulate(tmp_path / "loop.yaml", T=2)
    assert "name: my_loop" in text
    assert "gain_2: {type: INTEGRATOR, x0: [0], gain: 0.5}" in text  # no default is told
    np.testing.assert_allclose(results["gain_2"].ravel()[-1], 1 - np.exp(-5 * 1.5), atol=1e-5)


def test_the_command_writes_the_file_and_says_what_is_next(loop, tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from spart_blocks.cli.app import app

    monkeypatch.chdir(tmp_path)
    answer = CliRunner().invoke(app(), ["new", "loop.yaml", "--from", str(loop)])
    assert (answer.exit_code, answer.stdout) == (0, "loop.yaml\n")
    again = CliRunner().invoke(app(), ["new", "loop.yaml", "--from", str(loop)])
    assert again.exit_code == 2


def test_everything_without_a_counterpart_is_marked_and_nothing_is_run(tmp_path):
    """The rest is carried over, and the loader tells where the holes are."""
    drawing = Drawing()
    step = drawing.block("STEP", "s", 0, 1)
    function = drawing.block("FUNCTION", "f", 1, 1, func="=__import__('os').system('touch run')")
    gain = drawing.block("GAIN", "g", 1, 1, K="=open('run', 'w')", k=3)
    typed = drawing.block("GIAN", "h", 1, 1)
    drawing.wire(step, function)
    drawing.wire(function, gain)
    drawing.wire(gain, typed)
    draft = from_bdedit(drawing.write(tmp_path))
    text = draft.text()
    assert "# NOT CONVERTED: K is Python: \"=open('run', 'w')\"" in text
    assert "# NOT CONVERTED: GAIN has no parameter 'k'; did you mean 'K'?" in text
    assert "# NOT CONVERTED: h (GIAN): no such type; did you mean 'GAIN'?" in text
    assert "# NOT CONVERTED: f (FUNCTION): it takes a Python function" in text
    assert "- s -> f.0" in text
    assert "- g -> h.0" in text
    assert table(draft.rows)[0] == "4 blocks: 1 carried over, 0 changed, 3 not converted"
    (tmp_path / "m.yaml").write_text(text)
    with pytest.raises(DiagramError, match="g_K"):
        sb.load(tmp_path / "m.yaml")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"blocks": 3}', '{"blocks": [3], "wires": []}', "[" * 100_000, "\x00"],
)
def test_a_file_that_is_none_is_refused(text, tmp_path):
    path = tmp_path / "no.bd"
    path.write_text(text)
    with pytest.raises(InputError):
        from_bdedit(path)


@pytest.mark.parametrize("value", ["=10**10**10", "=1/0", "=[1]*10", "=" + "(" * 500, "=-True"])
def test_expressions_that_grow_or_fail_are_refused(value, tmp_path):
    drawing = Drawing()
    drawing.block("GAIN", "g", 1, 1, K=value)
    (row,) = from_bdedit(drawing.write(tmp_path)).rows
    assert row.state == "left"
    assert "is Python" in row.why


def test_wires_between_corners_alone_end(tmp_path):
    drawing = Drawing()
    one, two = (drawing.block("CONNECTOR", "", 1, 1) for _ in range(2))
    gain = drawing.block("GAIN", "g", 1, 1)
    drawing.wire(one, two)
    drawing.wire(two, one)
    drawing.wire(two, gain)
    assert "wires: []" in from_bdedit(drawing.write(tmp_path)).text()


def test_what_is_no_json_is_told_at_its_place(tmp_path):
    path = tmp_path / "d.bd"
    path.write_text('{"blocks": [],\n "wires": [}')
    with pytest.raises(InputError, match=r"d\.bd:2:12: it is not JSON") as error:
        from_bdedit(path)
    assert "JSONDecodeError" not in str(error.value)
