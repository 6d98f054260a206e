"""`spart blocks`, `show` and `robot`: looking without running."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spart_blocks.descriptions.docstrings import read_docstring
from spart_blocks.descriptions.subjects import SUBJECTS

MODELS = Path(__file__).parents[2] / "models"


def test_blocks_lists_every_type_under_its_subject(spart):
    from spart_blocks.diagram.build.registry import type_names

    answer = spart("blocks")
    assert answer.code == 0
    lines = [line.split() for line in answer.out.splitlines() if line.startswith("  ")]
    assert sorted(words[0] for words in lines) == type_names()
    assert all(len(words) > 1 for words in lines)
    heads = [line for line in answer.out.splitlines() if line and line[0].isupper()]
    assert heads == list(SUBJECTS)
    assert "\x1b" not in answer.out


@pytest.mark.parametrize("name", ["JOINT_PD", "joint_pd"])
def test_blocks_shows_ports_and_parameters(spart, name):
    answer = spart("blocks", name)
    assert answer.code == 0
    words = [line.split() for line in answer.out.splitlines()]
    assert ["0", "qd", "ndarray(nq,)", "[rad,", "m]", "desired", "joint", "positions"] in words
    gain = ["kp", "float", "or", "array_like(nu)", "required", "proportional", "gain"]
    assert [*gain, "[N", "m/rad,", "N/m]"] in words


def test_blocks_prints_json(spart):
    everything = json.loads(spart("blocks", "--json").out)
    gain = json.loads(spart("blocks", "GAIN", "--json").out)
    assert gain in everything
    assert [(p["name"], p["default"]) for p in gain["parameters"]] == [("K", 1), ("premul", False)]


def test_blocks_tells_every_port_of_ours_with_a_name(spart):
    listed = json.loads(spart("blocks", "--json").out)
    ours = [b for b in listed if b["package"] == "spart_blocks"]
    assert ours
    for block in ours:
        for port in block["inputs"] + block["outputs"]:
            assert not port["name"].isdigit(), f"{block['name']}: {port}"


def test_blocks_names_the_nearest_type(spart):
    answer = spart("blocks", "multbody")
    assert answer.code == 2
    assert "there is no block type 'multbody'" in answer.err
    assert "'MULTIBODY'" in answer.err


def test_blocks_says_what_a_file_cannot_name(spart):
    assert "Not for diagram files" in spart("blocks", "FUNCTION").out


def test_docstrings_are_read_without_their_marks():
    text = read_docstring(
        """
        :blockname:`X`

        One line
        and another.

        .. list-table::
            :header-rows: 1

            * - Port type
              - Port number
              - Types
              - Description
            * - Input
              - 0
              - float
              - ``qd`` [rad, m]: desired
                positions
            * - Output
              - 0
              - any
              - :math:`K x`

        See :meth:`common options <bdsim.Block>` for ``more``.  For example::

            x = 1

        :param kp: gain
            in two lines
        :type kp: float
        """
    )
    code = ["See common options for more. For example:", "  x = 1"]
    assert text.prose == ["One line and another.", *code]
    [port], [out] = text.inputs, text.outputs
    assert (port.name, port.unit, port.text) == ("qd", "rad, m", "desired positions")
    assert (out.name, out.text) == ("", "K x")
    assert text.fields["param", "kp"] == "gain in two lines"
    assert text.fields["type", "kp"] == "float"


def test_show_draws_into_out_by_default(spart, ramp, tmp_path):
    answer = spart("show", ramp)
    assert answer.code == 0
    assert Path(answer.out.strip()) == Path("out/ramp.svg")
    assert "<svg" in (tmp_path / "out/ramp.svg").read_text(encoding="utf-8")


def test_show_draws_the_chart_of_a_machine(spart, tmp_path):
    (tmp_path / "modes.yaml").write_text(
        "blocks: {u: {type: TIME}, m: {type: STATE_MACHINE, states: {on: {}}}}\nwires: [u -> m.u]"
    )
    assert spart("show", "modes.yaml", "--block", "m").out == "out/modes-m.svg\n"
    assert "state on" in (tmp_path / "out/modes-m.svg").read_text()
    answer = spart("show", "modes.yaml", "--block", "u")
    assert (answer.code, "block 'u' is no state machine" in answer.err) == (2, True)


def test_show_draws_where_told(spart, ramp, tmp_path):
    assert spart("show", ramp, "--out", "my ramp.png").out == "my ramp.png\n"
    assert (tmp_path / "my ramp.png").read_bytes().startswith(b"\x89PNG")
    answer = spart("show", ramp, "--out", "ramp.gif")
    assert answer.code == 2
    assert "end it in .svg, .png or .pdf" in answer.err


def test_robot_prints_its_tree(spart):
    answer = spart("robot", MODELS / "dual_arm.urdf")
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert "floating base, 8 joints (6 active)" in lines[0]
    assert any(line.startswith("      3 left_link3") for line in lines)
    assert any(line.startswith("  5 right_link1") and "qm[3]" in line for line in lines)


def test_robot_prints_motors_and_what_of_them_acts(spart, tmp_path):
    puma = spart("robot", MODELS / "puma560.yaml")
    assert puma.code == 0
    lines = [line.split() for line in puma.out.splitlines()]
    assert "acting at its joints: motors, friction" in puma.out
    assert ["j3", "-53.7063", "0.0002", "0.00138", "0.132,", "-0.105", "0.5769"] in lines
    drives = tmp_path / "drives.yaml"
    drives.write_text("joints: {left_joint1: {gear: 50, motor_inertia: 1e-4, viscous: 0.2}}\n")
    driven = spart("robot", MODELS / "dual_arm.urdf", "--drives", drives)
    assert ["left_joint1", "50", "0.0001", "0.2", "0,", "0", "0.25"] in [
        line.split() for line in driven.out.splitlines()
    ]
    assert "motor of" not in spart("robot", MODELS / "dual_arm.urdf").out


def test_robot_prints_the_robots_of_a_diagram(spart, tmp_path):
    (tmp_path / "puma560.yaml").write_text((MODELS / "puma560.yaml").read_text())
    diagram = tmp_path / "diagram.yaml"
    robots = "{a: {links: puma560.yaml, kinematic: [j5, j2], effects: none}}"
    diagram.write_text(f"robots: {robots}\nblocks: {{t: {{type: TIME}}}}\n")
    answer = spart("robot", diagram)
    assert answer.code == 0
    assert "acting at its joints: nothing\nprescribed: j2, j5" in answer.out
    diagram.write_text("blocks: {t: {type: TIME}}\n")
    assert "the diagram has no robots" in spart("robot", diagram).err
    dh = spart("robot", MODELS / "spacecraft_dh_5dof.yaml")
    assert "floating base, 5 joints (5 active)" in dh.out


def test_robot_tells_faults_and_doubts(spart, tmp_path):
    answer = spart("robot", "none.urdf")
    assert answer.code == 2
    assert "no such file" in answer.err
    doubtful = tmp_path / "doubtful.urdf"
    doubtful.write_text(
        "<robot name='r'><link name='a'><inertial><mass value='1'/>"
        "<inertia ixx='1' iyy='1' izz='5' ixy='0' ixz='0' iyz='0'/></inertial></link></robot>"
    )
    warned = spart("robot", doubtful)
    assert warned.code == 0
    assert warned.err.startswith("warning: ")
    assert "SpartWarning" not in warned.err
    assert spart("robot", doubtful, "--strict").code == 2


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["Zero-Order Hold"], ["ZOH", "UNIT_DELAY"]),
        (["sine", "wave"], ["WAVEFORM"]),
        (["ZeroOrderHold"], ["ZOH"]),
        (["delay"], ["TRANSPORT_DELAY", "UNIT_DELAY", "VARIABLE_DELAY"]),
        (["polynomial order"], ["QUINTIC"]),
        (["from workspace"], ["DATA"]),
    ],
)
def test_blocks_searches_names_summaries_and_names_elsewhere(spart, words, found):
    answer = spart("blocks", *words)
    assert answer.code == 0, answer.err
    listed = [line.split()[0] for line in answer.out.splitlines() if line.startswith("  ")]
    assert set(found) <= set(listed)
    assert json.loads(spart("blocks", *words, "--json").out)


def test_blocks_tells_what_takes_the_place_of_a_block_elsewhere(spart):
    answer = spart("blocks", "to", "file")
    assert answer.code == 0
    assert "To File (Simulink): `spart run FILE --out run.npz`" in answer.out


@pytest.mark.parametrize("name", ["Transport Delay", "transport-delay", "TRANSPORT_DELAY"])
def test_blocks_takes_a_name_however_it_is_spelled(spart, name):
    answer = spart("blocks", name)
    assert answer.out.startswith("TRANSPORT_DELAY  (spart_blocks: Delays and filters)")
    assert "elsewhere: Transport Delay" in answer.out


def test_blocks_lists_what_is_about_some_of_the_words(spart):
    answer = spart("blocks", "forward", "capacitor")
    assert answer.code == 0
    assert answer.out.startswith("no block is about all of 'forward capacitor'")
    assert "FD " in answer.out
    answer = spart("blocks", "forward kinematics")
    assert "END_EFFECTOR" in answer.out
    assert "no block is about all" not in answer.out


def test_blocks_finds_nothing_of_what_is_not(spart):
    answer = spart("blocks", "flux capacitor")
    assert answer.code == 2
    assert "no block type 'flux capacitor', nor one that is about it" in answer.err


@pytest.mark.parametrize(
    ("word", "name"), [("restitution", "FRICTION_MASS"), ("anti-windup", "PID_2DOF_S")]
)
def test_blocks_are_found_by_their_parameters_where_no_summary_has_the_word(word, name, spart):
    assert name in spart("blocks", word).out
