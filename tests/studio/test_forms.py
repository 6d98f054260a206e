"""Forms of blocks and files, the palette's types, and to which ports wires fit."""

from __future__ import annotations

import asyncio
import shutil

import pytest
from asking import ARM, Asking

from spart_blocks.base.document import parse_document
from spart_blocks.descriptions.subjects import SUBJECTS
from spart_blocks.diagram.build.registry import block_types
from spart_blocks.state_machines.written import MACHINES, first_machine
from spart_blocks.studio.files import reading
from spart_blocks.studio.files.session import opened_files


@pytest.fixture
def asking(tmp_path, monkeypatch):
    monkeypatch.setenv("SPART_CACHE", str(tmp_path / "cache"))
    (tmp_path / "arm.yaml").write_text(ARM)
    found = Asking(tmp_path)
    found.ok("open", path="arm.yaml")
    return found


def fields(asking, block, at="", path="arm.yaml"):
    form = asking.ok("form", path=path, at=at, block=block)
    return {field["name"]: field for field in form["fields"]}


def test_a_form_has_the_parameters_of_the_type(asking):
    form = asking.ok("form", path="arm.yaml", at="", block="step")
    assert form["type"] == "STEP"
    assert form["summary"]
    T = fields(asking, "step")["T"]
    assert {
        "name": "T", "path": "blocks.step.T", "doc": T["doc"], "unit": "", "kind": "number",
        "choices": [], "lines": False, "required": False,
        "default": "1", "text": "1", "tunable": "step.T",
    } == T  # fmt: skip
    assert "time of step" in T["doc"]
    assert fields(asking, "step")["on"]["text"] is None
    assert fields(asking, "hold")["clock"]["choices"] == ["tick"]
    assert fields(asking, "hold")["clock"]["kind"] == "choice"


def test_values_of_a_form_are_told_as_they_are_written(asking):
    path = asking.session.root / "arm.yaml"
    path.write_text(ARM.replace("type: STEP, T: 1", "type: STEP, T: 1e-3, on: [ 1,2 ]"))
    asking.look()
    found = fields(asking, "step")
    assert (found["T"]["text"], found["on"]["text"]) == ("1e-3", "[ 1,2 ]")


def test_the_form_of_an_instance_has_the_subsystem_s_parameters(asking):
    one, two = fields(asking, "one")["gain"], fields(asking, "two")["gain"]
    assert (one["text"], one["default"], one["path"]) == ("$k", "3", "blocks.one.gain")
    assert (two["text"], two["default"]) == (None, "3")
    law = fields(asking, "law", at="two")["K"]
    assert (law["path"], law["tunable"]) == ("subsystems.servo.blocks.law.K", "two/law.K")


def test_the_form_of_a_file_has_its_run_and_parameters(asking):
    found = fields(asking, "")
    assert (found["T"]["path"], found["T"]["text"], found["T"]["unit"]) == ("run.T", "2", "s")
    assert found["solver"]["kind"] == "choice"
    assert {"auto", "RK45", "CVODES"} <= set(found["solver"]["choices"])
    assert found["k"]["path"] == "params.k"
    asking.edit("arm.yaml", {"op": "set", "path": found["rtol"]["path"], "text": "1e-9"})
    assert fields(asking, "")["rtol"]["text"] == "1e-09"


def test_words_that_a_parameter_can_be_are_its_choices(asking):
    asking.edit("arm.yaml", {"op": "add", "name": "p", "type": "MULTIBODY", "within": ""})
    base = fields(asking, "p")["base_frame"]
    assert (base["kind"], base["choices"]) == ("choice", ["com", "urdf"])
    assert fields(asking, "p")["robot"]["required"]
    assert fields(asking, "p")["audit"]["kind"] == "flag"


def test_parameters_whose_values_fit_are_choices_too(asking):
    path = asking.session.root / "arm.yaml"
    path.write_text(ARM.replace("k: 2 ", "k: 2\n  frame: urdf\n  whole: true\n  one: 1\n "))
    asking.look()
    asking.edit("arm.yaml", {"op": "add", "name": "p", "type": "MULTIBODY", "within": ""})
    found = fields(asking, "p")
    assert found["base_frame"]["choices"] == ["com", "urdf", "$frame"]
    assert found["audit"]["choices"] == ["$whole"]
    asking.edit("arm.yaml", {"op": "set", "path": "subsystems.servo.params.whole", "text": "1"})
    asking.edit("arm.yaml", {"op": "add", "name": "p", "type": "MULTIBODY", "within": "servo"})
    assert fields(asking, "p", at="one")["audit"]["choices"] == []


def test_a_parameter_that_there_is_not_is_in_the_form(asking):
    path = asking.session.root / "arm.yaml"
    path.write_text(ARM.replace("type: STEP, T: 1", "type: STEP, tee: 1"))
    asking.look()
    assert fields(asking, "step")["tee"]["text"] == "1"


@pytest.mark.parametrize("kind", block_types(), ids=lambda kind: kind.name)
def test_every_type_has_a_form_and_a_sheet(asking, kind):
    add = {"op": "add", "name": "it", "type": kind.name, "within": ""}
    sheet = asking.edit("arm.yaml", add)["sheet"]
    block = next(block for block in sheet["blocks"] if block["name"] == "it")
    assert block["look"] in ("source", "sink", "function", "continuous", "sampled")
    form = asking.ok("form", path="arm.yaml", at="", block="it")
    assert [field["name"] for field in form["fields"]] == list(kind.parameters)
    begun = {*first_machine()} if kind.name in MACHINES else set()
    begun |= (
        {"clock"} if "clock" in kind.parameters and kind.parameters["clock"].required else set()
    )
    for field in form["fields"]:
        assert (field["text"] is not None) == (field["name"] in begun)
        assert not field["required"] or field["default"] == ""
    required = [one for one in form["fields"] if one["required"] and one["name"] not in begun]
    assert bool(required) <= bool(block["problems"])


def test_a_new_block_gets_the_only_robot_and_the_only_clock_of_the_file(asking):
    path = asking.session.root / "only.yaml"
    text = "robots: {arm: {dh: arm.yaml}}\nclocks: {c: {T: 0.1}}\nblocks: {}\n"
    path.write_text(text)
    asking.ok("open", path="only.yaml")
    add = [
        {"op": "add", "name": "plant", "type": "MULTIBODY", "within": ""},
        {"op": "add", "name": "held", "type": "ZOH", "within": ""},
        {"op": "add", "name": "gain", "type": "GAIN", "within": ""},
        {"op": "add", "name": "other", "type": "MULTIBODY", "within": "",
         "parameters": {"robot": "leg"}},
    ]  # fmt: skip
    asking.edit("only.yaml", *add)
    blocks = parse_document(path.read_text(), "").data["blocks"]
    assert blocks == {
        "plant": {"type": "MULTIBODY", "robot": "arm"},
        "held": {"type": "ZOH", "clock": "c"},
        "gain": {"type": "GAIN"},
        "other": {"type": "MULTIBODY", "robot": "leg"},
    }
    path.write_text(text.replace("{arm:", "{leg: {dh: arm.yaml}, arm:"))
    asking.look()
    asking.edit("only.yaml", {"op": "add", "name": "plant", "type": "MULTIBODY", "within": ""})
    assert fields(asking, "plant", path="only.yaml")["robot"]["text"] is None


def test_a_wire_can_begin_at_outputs_that_a_plant_gets_by_it(asking):
    path = asking.session.root / "plant.yaml"
    shutil.copy("models/spacecraft_3dof.urdf", path.parent)
    path.write_text(
        "robots: {arm: {urdf: spacecraft_3dof.urdf}}\n"
        "blocks:\n  plant: {type: MULTIBODY, robot: arm, audit: true}\n  show: {type: SCOPE}\n"
    )
    asking.ok("open", path="plant.yaml")

    def plant():
        return asking.ok("sheet", path="plant.yaml", at="")["blocks"][0]

    assert {"umdot", "reaction", "audit.p", "audit.energy"} <= set(plant()["further"])
    assert fits(asking, "plant", "umdot", True, path="plant.yaml")["show.0"] is None
    wire = {"op": "wire", "source": "plant.umdot", "target": "show", "within": ""}
    asking.edit("plant.yaml", wire)
    assert "umdot" in [port["name"] for port in plant()["outputs"]]
    assert "umdot" not in plant()["further"]


def test_a_scope_with_labels_takes_wires_until_each_has_a_line(asking):
    path = asking.session.root / "scope.yaml"
    path.write_text(
        "blocks:\n  a: {type: STEP}\n  b: {type: STEP}\n  show: {type: SCOPE, labels: [a, b]}\n"
        "wires: [a -> show]\n"
    )
    asking.ok("open", path="scope.yaml")
    assert fits(asking, "b", "0", True, path="scope.yaml")["show.1"] is None
    asking.edit("scope.yaml", {"op": "wire", "source": "b", "target": "show.1", "within": ""})
    show = asking.ok("sheet", path="scope.yaml", at="")["blocks"][2]
    assert [port["name"] for port in show["inputs"]] == ["0", "1"]


def test_the_palette_has_all_types_a_file_can_name(asking):
    found = {kind["name"]: kind for kind in asking.ok("types")}
    assert set(found) == {kind.name for kind in block_types()}
    gain = found["GAIN"]
    assert gain["look"] == "function"
    assert "Slider Gain" in gain["elsewhere"]
    assert (gain["inputs"], gain["outputs"]) == (["0"], ["0"])
    assert found["STEP"]["look"] == "source"
    subjects = list(dict.fromkeys(kind["subject"] for kind in asking.ok("types")))
    assert subjects[: len(SUBJECTS)] == list(SUBJECTS)  # then those of other packages


# --- which ports fit -------------------------------------------------------------------------


def fits(asking, block, port, output, path="arm.yaml", at=""):
    return asking.ok("fits", path=path, at=at, output=output, **{"from": {
        "block": block, "port": port}})  # fmt: skip


def test_wired_inputs_do_not_fit(asking):
    found = fits(asking, "step", "0", True)
    assert found == {
        "one.goal": "one.goal has a wire already",
        "two.goal": "two.goal has a wire already",
        "hold.0": "hold.0 has a wire already",
        "scope.0": "scope.0 has a wire already",
        "scope.1": "scope.1 has a wire already",
        "scope.2": None,
    }
    asking.edit("arm.yaml", {"op": "wire", "source": "step", "target": "scope.2", "within": ""})
    assert fits(asking, "scope", "3", False) == {
        "step.0": None, "one.x": None, "two.x": None, "hold.0": None}  # fmt: skip
    assert set(fits(asking, "scope", "0", False).values()) == {"scope.0 has a wire already"}


def test_shapes_and_units_that_differ_do_not_fit(asking):
    asking.edit(
        "arm.yaml",
        {"op": "add", "name": "air", "type": "ATMOSPHERE", "within": ""},
        {"op": "add", "name": "orbit", "type": "TWO_BODY", "within": ""},
        {"op": "add", "name": "turn", "type": "R_ANGLES321", "within": ""},
    )
    found = fits(asking, "orbit", "a", True)
    assert found["air.r"] == "orbit.a is in [m/s^2], air.r takes [m]"
    assert fits(asking, "air", "height", True)["orbit.r"] == (
        "air.height is one number, orbit.r takes a vector of 3")  # fmt: skip
    assert fits(asking, "orbit", "a", True)["turn.R"] == (
        "orbit.a is a vector of 3, turn.R takes a matrix of 3 × 3")  # fmt: skip
    assert fits(asking, "turn", "R", False)["orbit.a"] is not None
    assert fits(asking, "turn", "R", False)["step.0"] is None


def test_types_that_surely_take_no_wire_from_a_port_are_told(asking):
    asking.edit(
        "arm.yaml",
        {"op": "add", "name": "orbit", "type": "TWO_BODY", "within": ""},
        {"op": "add", "name": "turn", "type": "R_ANGLES321", "within": ""},
    )

    def unfit(block, port, output):
        start = {"block": block, "port": port}
        return asking.ok("unfit", path="arm.yaml", at="", output=output, **{"from": start})

    found = unfit("orbit", "a", True)
    assert found["R_ANGLES321"] == "R takes a matrix of 3 × 3, orbit.a is a vector of 3"
    assert "[m]" in found["ECI_ECEF"]
    assert "orbit.a is [m/s^2]" in found["ECI_ECEF"]
    for taken in ("SCOPE", "GAIN", "SUM", "UNIT_DELAY", "CROSS", "SELECTOR"):
        assert taken not in found
    assert found["FD"].endswith("and its other inputs do not fit either")  # none is [m/s^2]
    found = unfit("turn", "R", False)
    assert found["CIRCLE"].startswith("r is a vector of 3, turn.R takes a matrix of 3 × 3")
    assert "ANGLES321_R" not in found
    assert unfit("step", "0", True).keys().isdisjoint({"GAIN", "SATURATION", "TABLE"})
    assert asking.problem("unfit", path="arm.yaml", at="", output=True, **{"from": "step"})


def test_a_subsystem_without_inputs_takes_no_wire(asking):
    path = asking.session.root / "arm.yaml"
    source = (
        "  signal: {outputs: [y], blocks: {s: {type: STEP}}, wires: [s -> out.y]}\nblocks:\n  step"
    )
    path.write_text(ARM.replace("blocks:\n  step", source))
    asking.look()
    start = {"block": "step", "port": "0"}
    found = asking.ok("unfit", path="arm.yaml", at="", output=True, **{"from": start})
    assert found["signal"] == "it has no inputs"
    assert "servo" not in found


def test_what_is_no_port_is_refused(asking):
    for start in ({"block": "nobody", "port": "0"}, {"block": "step", "port": "9"}, "step", None,
                  {"block": 3, "port": "0"}):  # fmt: skip
        assert asking.problem("fits", path="arm.yaml", at="", output=True, **{"from": start})


# --- what a file holds --------------------------------------------------------------------------


def test_the_contents_are_the_blocks_of_all_sheets_with_ports_and_parameters(asking):
    found = {(one["at"], one["block"]): one for one in asking.ok("contents", path="arm.yaml")}
    assert list(found)[:5] == [("", name) for name in ("step", "one", "two", "hold", "scope")]
    step = {"at": "", "block": "step", "type": "STEP", "ports": [], "parameters": {"T": "1"}}
    assert found["", "step"] == step
    assert found["", "one"]["ports"] == ["goal", "x"]
    assert found["", "one"]["parameters"] == {"gain": "$k"}
    assert found["two", "law"]["parameters"] == {"K": "$gain"}
    assert ("one", "in") in found


# --- large diagrams -----------------------------------------------------------------------------


def test_a_large_diagram_is_built_behind_the_answer(asking, monkeypatch):
    monkeypatch.setattr(reading, "AT_ONCE", 3)
    path = asking.session.root / "large.yaml"
    path.write_text(ARM.replace("T: 1}", "T: soon}"))
    files = opened_files(asking.session)
    with monkeypatch.context() as not_yet:
        not_yet.setattr(files, "settle", lambda file: None)
        assert asking.ok("open", path="large.yaml")["problems"] == []
        sheet = asking.ok("sheet", path="large.yaml", at="")
    assert len(sheet["wires"]) == 5
    file = files.files["large.yaml"]
    assert file.reading.pending

    async def wait():
        files.settle(file)
        await asyncio.gather(*files.building.values())

    asyncio.run(wait())
    (told,) = asking.told()
    assert told["tell"] == "changed"
    assert told["opened"]["problems"][0]["block"] == "step"
    assert not file.reading.pending
    revision = told["opened"]["revision"]
    done = [{"op": "set", "path": "blocks.step.T", "text": "2"}]
    given = {"path": "large.yaml", "at": "", "revision": revision, "operations": done}
    assert asking.ok("try", **given)["problems"] == []
    assert "T: soon}" in path.read_text()


def test_inputs_that_are_counted_have_no_gap_before_they_are_built(asking, monkeypatch):
    monkeypatch.setattr(reading, "AT_ONCE", 3)
    monkeypatch.setattr(opened_files(asking.session), "settle", lambda file: None)
    lines = [line for line in ARM.splitlines() if not ("->" in line and "scope" in line)]
    text = "\n".join(lines).replace("run: {", "  - one.x -> scope.1\nrun: {")
    (asking.session.root / "gap.yaml").write_text(text)
    asking.ok("open", path="gap.yaml")
    sheet = asking.ok("sheet", path="gap.yaml", at="")
    scope = next(block for block in sheet["blocks"] if block["name"] == "scope")
    assert [port["name"] for port in scope["inputs"]] == ["0", "1", "2"]
    assert [port["wired"] for port in scope["inputs"]] == [False, True, False]
