"""Texts of .msg and .srv files become types; what is wrong in them has its line and column."""

from __future__ import annotations

import pytest

from spart_blocks.base.errors import InputError
from spart_blocks.ros.definitions import MessageType, full_name, read_message, read_service
from spart_blocks.ros.library import Library, bundled, from_texts, read_definitions

NOT_THERE = "there is no type"


def read(text, name="demo/msg/Thing"):
    return read_message(text, name, bundled().message, "Thing.msg")


def test_each_kind_of_field_is_read():
    found = read(
        "# a comment\n"
        "uint8 ON=1 # a constant\n"
        "string WORD = 'a # b'\n"
        "\n"
        "float64 x\n"
        "int32[3] three # of them\n"
        "uint16[] many\n"
        "bool[<=4] few\n"
        "string<=10 name\n"
        "string<=5[<=2] names\n"
        "geometry_msgs/Point[] points\n"
        "Header header\n"
        "std_msgs/msg/ColorRGBA color\n"
        "float32 gain 0.5\n"
        "int8[2] pair [1, -2]\n"
        'string text "hello"\n'
    )
    assert found.constants == (("ON", 1), ("WORD", "a # b"))
    rows = [(m.name, getattr(m.kind, "name", m.kind), m.array, m.count, m.longest, m.default)
            for m in found.members]  # fmt: skip
    assert rows == [
        ("x", "float64", "", 0, 0, None),
        ("three", "int32", "array", 3, 0, None),
        ("many", "uint16", "sequence", 0, 0, None),
        ("few", "bool", "sequence", 4, 0, None),
        ("name", "string", "", 0, 10, None),
        ("names", "string", "sequence", 2, 5, None),
        ("points", "geometry_msgs/msg/Point", "sequence", 0, 0, None),
        ("header", "std_msgs/msg/Header", "", 0, 0, None),
        ("color", "std_msgs/msg/ColorRGBA", "", 0, 0, None),
        ("gain", "float32", "", 0, 0, 0.5),
        ("pair", "int8", "array", 2, 0, (1, -2)),
        ("text", "string", "", 0, 0, "hello"),
    ]


@pytest.mark.parametrize(
    ("line", "column", "text"),
    [
        ("float64", 1, "no field"),
        ("float65 x", 1, "there is no type 'float65': did you mean 'float64' or 'float32'?"),
        ("  wstring x", 3, "no strings of wide characters"),
        ("geometry_msgs/Pont x", 1, NOT_THERE),
        ("float64 1x", 8, "no name of a field: '1x'"),
        ("float64[0] x", 1, "an array has 1 to 16777216 elements, not 0"),
        ("float64[99999999] x", 1, "not 99999999"),
        ("float64<=3 x", 1, "only strings are bounded by <=, not float64"),
        ("uint8 x 300", 1, "uint8 is 0 to 255, not 300"),
        ("uint8 X=-1", 1, "uint8 is 0 to 255, not -1"),
        ("bool x maybe", 1, "'maybe' is no bool"),
        ("int8[2] x [1]", 1, "x does not have 1 elements"),
        ("std_msgs/Header X=1", 1, "a constant is a number or a string"),
        ("std_msgs/Header x 1", 1, "has no default value"),
        ("../../etc/passwd x", 1, "no field"),
    ],
)
def test_a_wrong_line_has_its_place(line, column, text):
    with pytest.raises(InputError) as caught:
        read(f"float64 before\n{line}\nfloat64 behind\n")
    (fault,) = caught.value.faults
    assert text in fault.message
    assert str(fault.place) == f"Thing.msg:2:{column}"


def test_all_wrong_lines_are_told():
    with pytest.raises(InputError) as caught:
        read("float64 x\nfloat64 x\nnonsense\n")
    assert [str(fault.place) for fault in caught.value.faults] == ["Thing.msg:2:8", "Thing.msg:3:1"]


def test_a_service_has_two_parts():
    found = read_service("int64 a\n---\nint64 sum\n", "demo/srv/Add", bundled().message, "Add.srv")
    assert [m.name for m in (*found.request.members, *found.response.members)] == ["a", "sum"]
    assert found.dds_name == "demo::srv::dds_::Add_"
    with pytest.raises(InputError, match=r"Add\.srv:1: a service has one line ---"):
        read_service("int64 a\n", "demo/srv/Add", bundled().message, "Add.srv")


def test_definitions_of_the_user_come_first(tmp_path):
    folder = tmp_path / "demo_msgs" / "msg"
    folder.mkdir(parents=True)
    (folder / "Thrust.msg").write_text("Wheel[2] wheels\n")
    (folder / "Wheel.msg").write_text("float64 speed\n")
    library = Library([tmp_path])
    assert isinstance(library.message("demo_msgs/Thrust").members[0].kind, MessageType)
    assert "demo_msgs/msg/Thrust" in library.names()
    (folder / "Wheel.msg").write_text("Thrust t\n")
    with pytest.raises(InputError, match="demo_msgs/msg/Thrust contains itself"):
        Library([tmp_path]).message("demo_msgs/Thrust")


def test_a_schema_of_several_texts_is_read():
    find = from_texts({"a/msg/A": "B b\nstd_msgs/Header header\n", "a/msg/B": "float64 x\n"})
    assert [m.kind.name for m in find("a/A").members] == ["a/msg/B", "std_msgs/msg/Header"]


def test_a_file_may_define_the_types_of_its_fields(tmp_path):
    path = tmp_path / "Thrust.msg"
    path.write_text(
        "Wheel[2] wheels\nstd_msgs/Header header\n=====\nMSG: my_msgs/Wheel\nfloat64 speed\n"
        "======\nMSG: other/msg/Odd\nfloat65 x\n"
    )
    find = read_definitions(path, "my_msgs/Thrust")
    wheels, header = find("my_msgs/Thrust").members
    assert [m.name for m in wheels.kind.members] == ["speed"]
    assert header.kind == bundled().message("std_msgs/Header")
    with pytest.raises(InputError, match=r"Thrust\.msg:8:1: there is no type 'float65'"):
        find("other/Odd")
    path.write_text("float64 x\n===\nfloat64 y\n")
    with pytest.raises(InputError, match=r"Thrust\.msg:3: behind ===== comes a line MSG"):
        read_definitions(path, "my_msgs/Thrust")


def test_an_unknown_type_has_the_names_near_it():
    with pytest.raises(InputError, match="did you mean 'sensor_msgs/msg/JointState'"):
        bundled().message("sensor_msgs/JointStat")
    with pytest.raises(InputError, match="definitions: FILE"):
        bundled().message("mine/Completely")


@pytest.mark.parametrize("name", ["", "a", "a/b/c/d", "../msg/A", "a/msg/../A", "a/msg/a", 3, None])
def test_what_is_no_name_of_a_type_is_refused(name):
    with pytest.raises(ValueError, match="is no type: write package/msg/Name"):
        full_name(name)
