"""`tunable: [sc.mass]` asks that a robot's quantity stays a parameter of the program."""

from __future__ import annotations

from pathlib import Path

import pytest

MODEL = Path(__file__).parents[2] / "models" / "spacecraft_3dof.urdf"
FILE = f"""\
tunable: ASKED
robots: {{sc: {{urdf: {MODEL}}}}}
blocks: {{t: {{type: TIME}}}}
"""


def asking(text):
    return FILE.replace("ASKED", text)


def test_the_diagram_carries_what_the_file_asks_for(read):
    diagram = read(asking("[sc.mass, sc.inertia]"), root="/")
    assert diagram.tunable == ("sc.mass", "sc.inertia")


@pytest.mark.parametrize("text", ["", "[]", "null"])
def test_an_empty_section_asks_for_nothing(read, text):
    assert read(asking(text), root="/").tunable == ()


def test_nothing_is_tunable_that_the_file_does_not_ask_for(read):
    assert read("blocks: {t: {type: TIME}}").tunable == ()


@pytest.mark.parametrize(
    ("text", "column", "message", "hint"),
    [
        (
            "[sk.mass]",
            11,
            "tunable 'sk.mass' names no robot: there is no 'sk'",
            "did you mean 'sc'?",
        ),
        ("[sc.mas]", 11, "tunable 'sc.mas' names no quantity", "did you mean 'sc.mass'?"),
        (
            "[sc.temperature]",
            11,
            "tunable 'sc.temperature' names no quantity",
            "write one of sc.mass, sc.com, sc.inertia",
        ),
        ("[sc]", 11, "tunable 'sc' names no quantity", "write one of sc.mass, sc.com, sc.inertia"),
        ("['']", 11, "tunable '' names no robot", "it has sc"),
        ("[sc.mass, sc.mass]", 20, "tunable 'sc.mass' is given twice", ""),
        ("[3]", 11, "tunable.0 must be text, not 3", ""),
        ("sc.mass", 10, "tunable must be a list, not 'sc.mass'", ""),
    ],
)
def test_a_wrong_entry_is_one_fault_at_its_place(faults, text, column, message, hint):
    found = faults(asking(text), root="/")
    assert len(found) == 1
    assert found[0][:2] == (1, column)
    assert found[0][2].startswith(message)
    assert hint in found[0][3]


def test_without_robots_the_hint_says_what_is_tunable_anyway(faults):
    found = faults("tunable: [ctrl.kp]\nblocks: {t: {type: TIME}}\n")
    assert [fault[3] for fault in found] == [
        "there are no robots; blocks' parameters are tunable as they are"
    ]


def test_a_robot_that_cannot_be_read_is_the_only_fault(faults):
    text = "robots: {sc: {urdf: nowhere.urdf}}\ntunable: [sc.mass]\nblocks: {t: {type: TIME}}\n"
    assert [fault[0] for fault in faults(text)] == [1]
