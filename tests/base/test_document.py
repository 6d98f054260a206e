"""YAML text becomes plain values as YAML 1.2 has them, within limits, with places."""

from __future__ import annotations

import math

import pytest

from spart_blocks.base.document import MAX_DEPTH, parse_document, parse_value, read_document
from spart_blocks.base.errors import DiagramError, Place


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on", "on"),
        ("off", "off"),
        ("yes", "yes"),
        ("n", "n"),
        ("true", True),
        ("False", False),
        ("1e-6", 1e-6),
        ("1.0e3", 1000.0),
        ("1E5", 1e5),
        (".5", 0.5),
        ("-.5e1", -5.0),
        ("3.", 3.0),
        ("0x1F", 31),
        ("0o17", 15),
        ("017", 17),
        ("+3", 3),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("2020-01-01", "2020-01-01"),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        ("~", None),
        ("null", None),
        ("", None),
        ("'1'", "1"),
        ('"true"', "true"),
        ("1e", "1e"),
        ("[1, a, .5]", [1, "a", 0.5]),
        ("{on: 1, 2: x}", {"on": 1, "2": "x"}),
    ],
)
def test_scalars_are_those_of_yaml_1_2(text, value):
    found = parse_value(text, "test")
    assert found == value
    assert type(found) is type(value)


def test_nan_is_a_number():
    assert math.isnan(parse_value(".nan", "test"))


def test_every_value_and_key_remembers_its_place():
    document = parse_document("a:\n  b: [1, 'x y']\n  c: {d: 2}\n", "f.yaml")
    assert document.place("a", "b", 1) == Place("f.yaml", 2, 10)
    assert document.place("a", "c", "d") == Place("f.yaml", 3, 10)
    assert document.key_place("a", "c", "d") == Place("f.yaml", 3, 7)
    assert document.place_inside(("a", "b", 1), 2) == Place("f.yaml", 2, 13)
    assert document.place("a", "missing", "deeper") == Place("f.yaml", 2, 3)


def test_columns_count_characters_and_not_bytes():
    document = parse_document("ä: {ö: ü, x: 1}\n", "f.yaml")
    assert document.key_place("ä", "x") == Place("f.yaml", 1, 11)


BROKEN = [
    ("", 1, 1, "the file is empty"),
    ("# only a comment\n", 1, 1, "the file is empty"),
    ("- 1\n", 1, 1, "the file must be a mapping of keys to values"),
    ("a: 1\na: 2\n", 2, 1, "key 'a' is given twice"),
    ("a: {b: 1, b: 2}\n", 1, 11, "key 'b' is given twice"),
    ("a: !!python/object:os.system x\n", 1, 4, "is refused"),
    ("a: !x\n  b: 1\n", 1, 4, "is refused"),
    ("a: &x [*x]\n", 1, 8, "alias *x contains itself"),
    ("a: *x\n", 1, 4, "alias *x is not defined above"),
    ("? [a, b]\n: 1\n", 1, 3, "a key must be text"),
    ("a: 1\n---\nb: 2\n", 2, 1, "a second document begins here"),
    ("a:\n\tb: 1\n", 2, 1, "cannot start any token"),
    ("a: 1e999\n", 1, 4, "number 1e999 is out of range"),
    ("a: [1, 2\nb: 3\n", 2, 2, "not YAML"),
    ("a: \x00\n", 1, 4, "character U+0000"),
    ("a: b: c\n", 1, 5, "not YAML"),
]


@pytest.mark.parametrize(("text", "line", "column", "message"), BROKEN)
def test_broken_text_is_refused_at_its_place(text, line, column, message):
    with pytest.raises(DiagramError) as caught:
        parse_document(text, "f.yaml")
    (fault,) = caught.value.faults
    assert message in fault.message
    assert fault.place == Place("f.yaml", line, column)


def test_all_faults_of_the_text_are_reported_together():
    with pytest.raises(DiagramError) as caught:
        parse_document("a: !t 1\nb: 2\nb: 3\nc: *d\n", "f.yaml")
    assert [fault.place.line for fault in caught.value.faults] == [1, 3, 4]


def test_an_alias_bomb_is_refused_before_it_goes_off():
    """In full it has 9 to the power of 40 entries, for which no machine has the time."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 40)]
    with pytest.raises(DiagramError, match="aliases counted in full"):
        parse_document("\n".join(lines), "f.yaml")


def test_an_alias_may_be_used_within_the_limits():
    assert parse_document("a: &x [1, 2]\nb: *x\n", "f").data == {"a": [1, 2], "b": [1, 2]}


@pytest.mark.parametrize("nest", ["[", "{a: ", "- ", "? "])
def test_deep_nesting_is_refused_and_never_recursed_into(nest):
    with pytest.raises(DiagramError):
        parse_document("a:\n " + nest * 100_000, "f.yaml")


def test_nesting_through_aliases_counts():
    lines = ["a0: &a0 [1]"] + [f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, MAX_DEPTH + 1)]
    with pytest.raises(DiagramError, match="nested deeper"):
        parse_document("\n".join(lines), "f.yaml")


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"a: \xff\n", ":1:4: is not UTF-8 text"),
        (b"x" * 5_000_000, "is larger than 4000000 bytes"),
        ("a: 1\n".encode("utf-16"), "is not UTF-8"),
    ],
    ids=["latin", "huge", "utf-16"],
)
def test_files_that_are_not_text_are_refused(tmp_path, raw, message):
    file = tmp_path / "f.yaml"
    file.write_bytes(raw)
    with pytest.raises(DiagramError, match=message):
        read_document(file)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(DiagramError, match="there is no such file"):
        read_document(tmp_path / "none.yaml")
    with pytest.raises(DiagramError, match="is not a file"):
        read_document(tmp_path)
