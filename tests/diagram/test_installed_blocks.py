"""Blocks of installed packages: by their entry points, for what asks for them, and no further."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import spart_blocks as sb
from spart_blocks.base.errors import SpartWarning
from spart_blocks.diagram.build import installed_blocks as module
from spart_blocks.diagram.build.installed_blocks import installed_blocks, warn_of_installed
from spart_blocks.diagram.build.own_blocks import add_blocks
from spart_blocks.diagram.build.registry import find_type, type_names
from spart_blocks.studio.files.ports import palette_types

TIMES = """\
from bdsim.components import FunctionBlock


class {name}(FunctionBlock):
    \"\"\"A gain.\"\"\"

    nin = 1
    nout = 1

    def output(self, t, inputs, x):
        return [{k} * inputs[0]]
"""
DIAGRAM = """\
blocks: {{c: {{type: CONSTANT, value: 2}}, g: {{type: {name}}}, s: {{type: SCOPE}}}}
wires: [c -> g, g -> s]
run: {{T: 1}}
"""


def put_distribution(site, name, code, text=None):
    """A distribution in a folder: a module with this code, and metadata with the entry point."""
    target = name.replace("-", "_")
    site.mkdir(exist_ok=True)
    (site / f"{target}.py").write_text(code)
    info = site / f"{target}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    text = f"[{module.GROUP}]\n{name} = {target}\n" if text is None else text
    (info / "entry_points.txt").write_text(text)


@pytest.fixture
def install(tmp_path, monkeypatch):
    """install(name, code, text): a distribution behind the standard library, as pip has it."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "site")])
    installed_blocks.cache_clear()
    before = set(sys.modules)
    yield lambda *given: put_distribution(tmp_path / "site", *given)
    installed_blocks.cache_clear()
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def final(name):
    Path("d.yaml").write_text(DIAGRAM.format(name=name))
    return sb.simulate(sb.load("d.yaml"))["g"][-1]


def test_an_installed_package_adds_its_blocks(install):
    install("inst-a", TIMES.format(name="InstA", k=3))
    assert final("INSTA") == 6
    assert "INSTA" in type_names()
    assert {(t["name"], t["subject"]) for t in palette_types()} >= {("INSTA", "inst_a")}


@pytest.mark.filterwarnings("error")
def test_a_diagram_that_needs_no_installed_package_imports_none(install):
    install("inst-b", "raise RuntimeError('imported')")
    assert final("LAG" if find_type("LAG") else "PT1, gain: 3, tau: 1") is not None
    assert "inst_b" not in sys.modules


def test_a_broken_package_is_named_where_a_type_is_missing_and_only_there(install, recwarn):
    install("inst-c", "\n1 / 0\n")
    install("inst-d", TIMES.format(name="InstD", k=4))
    assert final("INSTD") == 8
    assert not recwarn.list
    with pytest.raises(sb.DiagramError) as caught:
        final("INSTE")
    said = str(caught.value)
    assert "d.yaml:1" in said
    assert "there is no block type 'INSTE'" in said
    assert "inst_c.py:2: the installed package inst-c 1.0: the blocks of inst_c cannot be" in said
    assert "pip uninstall inst-c" in said


@pytest.mark.parametrize(
    ("code", "text", "message"),
    [
        ("import sys\nsys.exit(3)\n", None, "cannot be imported: SystemExit: 3"),
        ("x = 1\n", None, "the blocks of inst_f: it has no blocks"),
        (
            "",
            "[spart_blocks.blocks]\nf = inst_g\n",
            "inst_g: there is no such module",
        ),
        ("", "[spart_blocks.blocks]\nno equals sign\n", "its metadata cannot be read: TypeError"),
    ],
)
def test_lists_of_blocks_warn_of_a_broken_package(install, code, text, message):
    install("inst-f", code, text)
    with pytest.warns(SpartWarning, match=f"the installed package inst-f 1.0: .*{message}"):
        warn_of_installed()


def test_a_block_with_a_name_of_ours_is_left_out_and_the_others_stay(install):
    install("inst-h", TIMES.format(name="Gain", k=5) + TIMES.format(name="InstH", k=5))
    with pytest.warns(SpartWarning, match=r"inst_h\.py:4: .*inst-h 1.0: .* the name GAIN"):
        warn_of_installed()
    assert final("INSTH") == 10
    assert find_type("GAIN").package == "bdsim"


def test_a_name_of_two_packages_is_neither_s_until_the_user_says_which(install):
    for name, k in (("inst-i", 6), ("inst-j", 7)):
        install(name, TIMES.format(name="InstI", k=k) + TIMES.format(name=f"Own{k}", k=k))
    assert (final("OWN6"), final("OWN7")) == (12, 14)
    with pytest.raises(sb.DiagramError, match=r"name INSTI: inst-[ij] 1.0 and inst-[ij] 1.0"):
        final("INSTI")
    add_blocks("inst_j")
    assert final("INSTI") == 14


def test_a_subsystem_may_have_the_name_of_an_installed_block(install):
    install("inst-k", TIMES.format(name="InstK", k=8))
    Path("d.yaml").write_text(
        "subsystems: {INSTK: {inputs: [u], outputs: [y], wires: [in.u -> out.y]}}\n"
        + DIAGRAM.format(name="INSTK")
    )
    assert type_names()  # which imports the package
    assert sb.simulate(sb.load("d.yaml"))["g"][-1] == 2


def test_files_beside_a_diagram_are_no_installed_package(tmp_path):
    """Neither for `python -m`, which looks for modules in the current folder first."""
    put_distribution(tmp_path, "inst-l", "open('ran', 'w').close()\n")
    (tmp_path / "d.yaml").write_text(DIAGRAM.format(name="INSTL"))
    command = [sys.executable, "-m", "spart_blocks", "run", "d.yaml", "--headless"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2
    assert re.search("there is no block type 'INSTL'", done.stderr)
    assert not (tmp_path / "ran").exists()
