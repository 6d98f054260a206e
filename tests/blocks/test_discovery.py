"""What bdsim 1.4 demands of a package of blocks, one test for each demand."""

from __future__ import annotations

import ast
import inspect
import re
from collections import ChainMap
from functools import cache
from pathlib import Path

import bdsim
import exchange_fmus
import fmu_files
import pytest
from block_table import BLOCKS, TREE
from closed_robots import four_bar

from spart_blocks.block_support.declared import Declared
from spart_blocks.diagram.build.registry import find_type

FOLDER = Path(__file__).parents[2] / "spart_blocks/blocks"
FILES = sorted(path for path in FOLDER.glob("*.py") if not path.name.startswith("_"))
BASES = {"FunctionBlock", "ContinuousBlock", "SampledBlock", "SourceBlock", "SinkBlock"}
GIVEN: dict[str, dict[str, object]] = {}  # arguments that name files
ALONE = ("QUINTIC", "TRAPEZOID")  # their robot is optional, and says how long q0 is
# Block names of roboticstoolbox-python's blocks (arm, mobile, spatial, uav): bdsim's wiki,
# "Block catalog", revision 2, and the icons in its roboticstoolbox/blocks folder. A later
# package wins silently, so ours stay clear of them.
# fmt: off
ROBOTICSTOOLBOX = (
    "FKINE", "IKINE", "JACOBIAN", "ARMPLOT", "JTRAJ", "CTRAJ", "CIRCLEPATH", "TRAPEZOIDAL",
    "LSPB", "TRAJ", "IDYN", "GRAVLOAD", "GRAVLOAD_X", "INERTIA", "INERTIA_X", "CORIOLIS",
    "FDYN", "FDYN_X", "BICYCLE", "UNICYCLE", "DIFFSTEER", "VEHICLEPLOT", "TR2DELTA",
    "DELTA2TR", "POINT2TR", "TR2T", "MULTIROTOR", "MULTIROTORMIXER", "MULTIROTORPLOT",
    "CAMERA",
)
# fmt: on


@pytest.fixture(autouse=True, scope="module")
def _an_fmu(tmp_path_factory):
    """Its block's ports are those of its file; this one's has none."""
    file = fmu_files.empty_fmu(tmp_path_factory.mktemp("fmu") / "empty.fmu")
    GIVEN["FMU"] = {"file": file}
    GIVEN["FMU_ME"] = {
        "file": exchange_fmus.write_fmu(file.with_name("all.fmu")),
        "input_ports": [],
        "output_ports": [],
    }
    recording = file.with_name("recording.csv")
    recording.write_text("t,u\n0,1\n1,2\n")
    GIVEN["DATA"] = {"file": recording, "signals": ["u"]}


@cache
def classes():
    """(file, class) of every top-level class in the files that bdsim reads."""
    return [
        pytest.param(path, node, id=node.name)
        for path in FILES
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]


def library(runtime, package="spart_blocks"):
    return {n: v for n, v in runtime._blocklibrary.items() if v["package"] == package}


def cls_of(node, runtime):
    return runtime._resolve_block_class(node.name.upper())


def make(name, robot=TREE, runtime=None):
    """A block of a type, alone in a diagram."""
    runtime = runtime or bdsim.BDSim
    cls = runtime._blocklibrary[name]["class"]
    given = {**BLOCKS[name].arguments, **GIVEN.get(name, {})}
    if "clock" in find_type(name).parameters:
        given["clock"] = bdsim.Clock(1.0)
    if "robot" in find_type(name).parameters and name not in ALONE:
        given["robot"] = four_bar() if name.startswith("LOOP_") else robot
    return cls(**given)


@pytest.mark.parametrize(("path", "node"), classes())
def test_every_class_is_found(path, node, bdsim_runtime):
    found = {info["classname"]: info for info in library(bdsim_runtime).values()}
    assert node.name in found
    assert found[node.name]["module"] == f"spart_blocks.blocks.{path.stem}"


@pytest.mark.parametrize(("path", "node"), classes())
def test_class_names_do_not_end_in_block(path, node):
    assert not node.name.endswith("Block")


@pytest.mark.parametrize(("path", "node"), classes())
def test_one_base_is_bdsim_s_and_mixins_do_not_end_in_block(path, node):
    names = [base.id for base in node.bases]
    assert len(set(names) & BASES) == 1
    assert not [name for name in names if name.endswith("Block") and name not in BASES]


@pytest.mark.parametrize(("path", "node"), classes())
def test_port_counts_are_literals_in_the_class_or_in_a_base_of_its_file(path, node):
    nodes = ast.parse(path.read_text(encoding="utf-8")).body
    local = {other.name: other for other in nodes if isinstance(other, ast.ClassDef)}

    def literals_of(node):
        inherited = [literals_of(local[base.id]) for base in node.bases if base.id in local]
        return ChainMap(
            {
                target.id: statement.value.value
                for statement in node.body
                if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant)
                for target in statement.targets
            },
            *inherited,
        )

    literals = literals_of(node)
    assert isinstance(literals["nin"], int)
    assert isinstance(literals["nout"], int)


@pytest.mark.parametrize(("path", "node"), classes())
def test_every_parameter_is_declared_once_and_told(path, node):
    text = ast.get_docstring(node)
    assert ":param " not in text, "bdsim needs a :type for each"
    kind = find_type(node.name.upper())
    assert kind.cls.parameters is not None
    assert {*re.findall(r"^:arg (\w+):", text, re.MULTILINE)} <= {*kind.parameters}
    assert list(inspect.signature(kind.cls).parameters) == [*kind.parameters, "blockargs"]
    for parameter in kind.parameters.values():
        assert parameter.doc, parameter.name
    told = re.findall(r"^:param (\w+):", kind.doc, re.MULTILINE)
    assert told == re.findall(r"^:type (\w+):", kind.doc, re.MULTILINE) == list(kind.parameters)


@pytest.mark.parametrize(("path", "node"), classes())
def test_ports_are_declared_once_and_completely(path, node, bdsim_runtime):
    cls = cls_of(node, bdsim_runtime)
    assert issubclass(cls, Declared)
    specs = [*cls.takes, *cls.gives]
    for spec in specs:
        assert spec.text, f"{spec.name} has no text"
        assert not spec.text.endswith("."), spec.name
        assert spec.unit == spec.unit.strip()
    if not hasattr(cls, "ports_of"):  # those of an FMU are in its file
        assert specs
    text = ast.get_docstring(node)
    for again in ("list-table", ":input", ":output", ":states:", ":blockname:"):
        assert again not in text


@pytest.mark.parametrize(("path", "node"), classes())
def test_the_help_on_a_class_has_its_ports(path, node, bdsim_runtime):
    cls = cls_of(node, bdsim_runtime)
    for way, specs in (("input", cls.takes), ("output", cls.gives)):
        told = re.findall(rf"^:{way} ([\w.]+): (.+)$", cls.__doc__, re.MULTILINE)
        assert [name for name, _ in told] == [spec.name for spec in specs]
        for (_, text), spec in zip(told, specs, strict=True):
            assert text.startswith(spec.type)
            assert text.endswith(spec.told)


@pytest.mark.parametrize(("path", "node"), classes())
def test_a_block_has_the_ports_that_its_class_declares(path, node, bdsim_runtime):
    block = make(node.name.upper(), runtime=bdsim_runtime)
    for ports, specs in (
        (block.in_ports, type(block).takes),
        (block.out_ports, type(block).gives),
    ):
        assert [port.name for port in ports] == [spec.name for spec in specs]
        for port, spec in zip(ports, specs, strict=True):
            assert port.optional == spec.optional, port.name
            given = vars(block).get(spec.unit)  # a parameter may give it
            assert port.unit in (spec.unit, *spec.unit.split(", "), given), port.name
            assert bool(port.unit) == bool(spec.unit), port.name


@pytest.mark.parametrize(("path", "node"), classes())
def test_the_constructed_ports_are_the_declared_ones(path, node, bdsim_runtime):
    block = make(node.name.upper(), runtime=bdsim_runtime)
    assert (block.nin, block.nout) == (type(block).nin, type(block).nout)
    assert len(block.in_ports) == block.nin
    assert len(block.out_ports) == block.nout
    info = library(bdsim_runtime)[node.name.upper()]
    assert (info["nin"], info["nout"]) == (block.nin, block.nout)


@pytest.mark.parametrize(("path", "node"), classes())
def test_no_attribute_has_the_name_of_an_input_port(path, node, bdsim_runtime):
    # bdsim takes `block.name = value` for a wire to the input port of that name.
    block = make(node.name.upper(), runtime=bdsim_runtime)
    ports = {port.name for port in block.in_ports}
    assert not ports & set(vars(block))
    assert not ports & {name for name in dir(type(block)) if not name.startswith("__")}


def test_no_block_takes_a_name_of_bdsim_s_own(bdsim_runtime):
    ours = {info["classname"].upper() for info in library(bdsim_runtime).values()}
    others = {
        name
        for name, info in bdsim_runtime._blocklibrary.items()
        if info["package"] != "spart_blocks"
    }
    assert "INTEGRATOR" in others
    assert len(ours) == len(library(bdsim_runtime)) == len(classes())
    assert not ours & others


def test_no_block_takes_a_name_of_roboticstoolbox_s(bdsim_runtime):
    assert not set(library(bdsim_runtime)) & set(ROBOTICSTOOLBOX)


def test_bdsim_s_own_library_loads_whole_beside_ours(bdsim_runtime, monkeypatch):
    beside = set(bdsim_runtime._blocklibrary) - set(library(bdsim_runtime))
    monkeypatch.setattr(bdsim.BDSim, "_blocklibrary", None)
    alone = bdsim.BDSim(
        packages="", sysargs=False, graphics=False, toolboxes=False, banner=False, progress=False
    )
    assert set(alone._blocklibrary) == beside


def test_blocks_are_made_through_a_diagram(bdsim_runtime):
    bd = bdsim_runtime.blockdiagram()
    plant = bd.MULTIBODY(TREE, name="plant")
    assert plant.name == "plant"
    assert plant.type == "multibody"
    assert plant.nstates == 7 + 6 + 2 * TREE.nu


@pytest.mark.parametrize("name", ["MULTIBODY", "AUDIT", "GRAVITY", "KINEMATICS", "GIM"])
def test_what_is_not_a_robot_is_refused_by_name(name, bdsim_runtime):
    cls = bdsim_runtime._blocklibrary[name]["class"]
    with pytest.raises(ValueError, match="needs a Robot for its parameter robot, not 'arm"):
        cls("arm.urdf")
