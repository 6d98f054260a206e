"""A warning points at the user's line that called this package, however deep its cause lies."""

from __future__ import annotations

import ast
from contextlib import contextmanager
from pathlib import Path

import pytest

import spart_blocks as sb
from spart_blocks.base.errors import SpartWarning, warn

PACKAGE = Path(sb.__file__).parent


def calls(tree):
    """The names of the functions that a file calls, as they are written."""
    return {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}


def test_all_warnings_go_through_one_function():
    """`warnings.warn` counts frames, and nobody counts them anew where a call moves."""
    for path in PACKAGE.rglob("*.py"):
        if path.relative_to(PACKAGE).as_posix() not in ("base/errors.py", "pytest_plugin.py"):
            assert "warnings.warn" not in calls(ast.parse(path.read_text())), path


def own_diagram():
    """A diagram that only the interpreter runs."""
    bd = sb.new_diagram("own")
    bent = bd.FUNCTION(lambda t: t if t < 1 else 1.0, nin=1, nout=1, name="bent")
    bd.connect(bd.TIME(name="time"), bent)
    bd.connect(bent, bd.INTEGRATOR(0.0, name="x"))
    return bd


@pytest.mark.parametrize("as_loaded", [False, True])
def test_a_fallback_to_the_interpreter_points_at_the_run(as_loaded):
    bd = own_diagram()
    diagram = sb.Diagram("own", bd) if as_loaded else bd
    for _ in range(2):  # also where the diagram is known from an earlier run
        with pytest.warns(SpartWarning, match="running on the interpreter") as caught:
            sb.simulate(diagram, T=0.1)
        assert {w.filename for w in caught} == {__file__}


def test_a_file_that_falls_back_points_at_the_run(tmp_path):
    (tmp_path / "own.py").write_text(
        "from bdsim.components import FunctionBlock\n\n\n"
        "class Bent(FunctionBlock):\n"
        "    nin = 1\n    nout = 1\n\n"
        "    def output(self, t, inputs, x):\n"
        "        return [inputs[0] if inputs[0] < 1 else 1.0]\n"
    )
    path = tmp_path / "own.yaml"
    path.write_text(
        "blocks: {t: {type: TIME}, b: {type: BENT}, x: {type: INTEGRATOR, x0: 0.0}}\n"
        "wires: [t -> b, b -> x]\n"
    )
    with pytest.warns(SpartWarning, match="running on the interpreter") as caught:
        sb.simulate(path, T=0.1, blocks=tmp_path / "own.py")
    assert {w.filename for w in caught} == {__file__}


def test_of_a_library_between_the_user_and_this_package_nothing_is_told():
    """The user calls bdsim, which calls a block of ours."""
    block = {"__name__": "spart_blocks.blocks.some", "warn": warn, "contextmanager": contextmanager}
    exec("@contextmanager\ndef checked():\n    yield\n    warn('doubtful')", block)
    library = {"__name__": "bdsim.blockdiagram", "checked": block["checked"]}
    exec("def call():\n    with checked():\n        pass", library)
    with pytest.warns(SpartWarning, match="doubtful") as caught:
        library["call"]()
    assert [w.filename for w in caught] == [__file__]
