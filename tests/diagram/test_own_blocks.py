"""Blocks of the user's own, from a file, a module or a package, by the user's word alone."""

from __future__ import annotations

import subprocess
import sys
from textwrap import dedent

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.diagram.build import own_blocks

TRIPLE = """\
from bdsim.components import FunctionBlock


class {name}(FunctionBlock):
    nin = 1
    nout = 1

    def __init__(self, k=3, **blockargs):
        super().__init__(**blockargs)
        self.k = k

    def output(self, t, inputs, x):
        return [self.k * inputs[0]]


class HelperBlock(FunctionBlock):
    nin = 1
    nout = 1
"""
DIAGRAM = """\
blocks: {{c: {{type: CONSTANT, value: 2}}, g: {{type: {name}}}, s: {{type: SCOPE}}}}
wires: [c -> g, g -> s]
run: {{T: 1}}
"""


@pytest.fixture
def put(tmp_path, monkeypatch):
    """put(name, text): a file in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def put(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
        return path

    return put


def final(blocks, name):
    diagram = sb.load("d.yaml", blocks=blocks)
    return sb.simulate(diagram)["g"][-1], name


def test_a_class_in_a_file_is_a_block_type(put):
    put("mine.py", TRIPLE.format(name="Triple"))
    put("d.yaml", DIAGRAM.format(name="TRIPLE"))
    results = sb.simulate(sb.load("d.yaml", blocks=["mine.py"]), engine="native")
    assert results["g"][-1] == 6


def test_a_module_is_found_from_the_current_folder(put):
    put("own_module_a.py", TRIPLE.format(name="TripleA"))
    put("d.yaml", DIAGRAM.format(name="TRIPLEA"))
    assert sb.simulate(sb.load("d.yaml", blocks="own_module_a"))["g"][-1] == 6


def test_a_package_with_a_folder_of_blocks_is_read_module_by_module(put):
    put("own_package/__init__.py", "")
    put("own_package/blocks/__init__.py", "")
    put("own_package/blocks/one.py", TRIPLE.format(name="TripleB"))
    put("own_package/blocks/_hidden.py", "raise RuntimeError('not to be imported')\n")
    assert own_blocks.add_blocks("own_package") == ("TRIPLEB",)


def test_blocks_that_are_imported_from_elsewhere_are_not_the_module_s(put):
    put("mine2.py", "from bdsim.blocks import Gain\n" + TRIPLE.format(name="TripleC"))
    assert own_blocks.add_blocks("mine2.py") == ("TRIPLEC",)


def test_a_file_never_imports_what_the_user_did_not_name(put):
    put("mine3.py", "raise RuntimeError('imported')\n" + TRIPLE.format(name="TripleD"))
    put("d.yaml", DIAGRAM.format(name="TRIPLED"))
    with pytest.raises(sb.DiagramError, match="there is no block type 'TRIPLED'"):
        sb.load("d.yaml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n", "it has no blocks"),
        ("def f(:\n", "mine4.py:1:7: the blocks of .* cannot be imported: SyntaxError"),
        ("\n1 / 0\n", "mine4.py:2: the blocks of .* cannot be imported: ZeroDivisionError"),
        ("import not_there_at_all\n", "cannot be imported: ModuleNotFoundError"),
        (TRIPLE.format(name="Gain"), "mine4.py:4: .* there is another block of the name GAIN"),
        (TRIPLE.format(name="Multibody"), "there is another block of the name MULTIBODY"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(put, text, message):
    put("mine4.py", text)
    with pytest.raises(InputError, match=message):
        own_blocks.add_blocks("mine4.py")


def test_what_is_not_there_says_so():
    with pytest.raises(InputError, match=r"none\.py: there is no such file"):
        own_blocks.add_blocks("none.py")
    with pytest.raises(InputError, match="not_there: there is no such module"):
        own_blocks.add_blocks("not_there")


def test_two_packages_with_one_name_are_refused_together(put):
    for name in ("mine5", "mine6"):
        put(f"{name}.py", TRIPLE.format(name="TripleE"))
    with pytest.raises(InputError, match="another block of the name TRIPLEE"):
        own_blocks.add_blocks("mine5.py", "mine6.py")


def test_two_classes_of_one_name_in_a_package_are_refused(put):
    put("own_package_h/__init__.py", "")
    for module in ("one", "two"):
        put(f"own_package_h/blocks/{module}.py", TRIPLE.format(name="TripleH"))
    with pytest.raises(InputError, match=r"two\.py:4: .* there are two of the name TRIPLEH"):
        own_blocks.add_blocks("own_package_h")


def test_the_program_of_own_blocks_is_not_kept_for_their_code_may_change(put, monkeypatch):
    """In a process of its own, as a user would change the file between two runs."""
    put("d.yaml", DIAGRAM.format(name="TRIPLEG"))
    monkeypatch.setenv("SPART_CACHE", str(put("cache/.keep", "").parent))
    finals = []
    for k in (3, 5):
        put("mine7.py", TRIPLE.format(name="TripleG").replace("k=3", f"k={k}"))
        command = ["run", "d.yaml", "--blocks", "mine7.py", "--headless", "--out", "run.npz"]
        subprocess.run([sys.executable, "-m", "spart_blocks", *command], check=True,
                       capture_output=True, env=None)  # fmt: skip
        finals.append(float(sb.Results.load("run.npz")["g"][-1]))
    assert np.array_equal(finals, [6, 10])
