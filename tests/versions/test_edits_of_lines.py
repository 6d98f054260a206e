"""Lines replaced in the text of a diagram: all others stay, byte for byte."""

from __future__ import annotations

import random

import pytest

from spart_blocks.base.errors import DiagramError, InputError
from spart_blocks.versions.edits import LineChange, ReplaceLines, Set, applied, edited

TEXT = "name: a # first\r\nparams:\r\n  k: 1\n  m: 2 # mixed\r\nblocks: {}\r\n"


def after(*changes, text=TEXT):
    done = edited(text, ReplaceLines(tuple(LineChange(*change) for change in changes)))
    back = done.after
    for patches in done.back:
        back = applied(back, patches)
    assert back == text
    return done.after


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ((0, 1, ("name: b",)), TEXT.replace("a # first", "b")),
        ((2, 3, ("  k: 3", "  n: 4")), TEXT.replace("  k: 1", "  k: 3\r\n  n: 4")),
        ((2, 2, ("  # two",)), TEXT.replace("  k: 1", "  # two\r\n  k: 1")),
        ((2, 3, ()), TEXT.replace("  k: 1\n", "")),
        ((4, 6, ()), TEXT.replace("\r\nblocks: {}\r\n", "")),
        ((6, 6, ("run: {T: 1}",)), TEXT + "\r\nrun: {T: 1}"),
        ((5, 6, ("run: {T: 1}", "")), TEXT + "run: {T: 1}\r\n"),
    ],
)
def test_lines_get_the_line_break_of_the_file(change, expected):
    assert after(change) == expected


def test_several_changes_are_one_round_and_go_with_other_operations():
    assert after((0, 1, ()), (2, 3, ("  k: 5",))) == TEXT[17:].replace("k: 1", "k: 5")
    both = edited(TEXT, [ReplaceLines((LineChange(0, 1, ()),)), Set("params.k", 7)])
    assert both.after == TEXT[17:].replace("k: 1", "k: 7")
    assert len(both.rounds) == 2


def test_lines_that_are_not_there_are_refused():
    for changes in ([(0, 9, ())], [(7, 7, ("a: 1",))], [(2, 1, ())], [(2, 3, ()), (1, 2, ())]):
        with pytest.raises(InputError, match="the text has no lines"):
            after(*changes)
    with pytest.raises(InputError, match="no line breaks"):
        after((0, 1, ("a\rb",)))


def test_a_text_that_cannot_be_read_is_refused_with_its_place():
    with pytest.raises(DiagramError) as refused:
        after((2, 3, ("  k: [1",)))
    assert refused.value.faults[0].place.line in (4, 5)


def test_random_changes_give_the_lines_asked_for():
    rng = random.Random(1)
    for _ in range(200):
        lines = [f"k{n}: {n}" for n in range(rng.randint(1, 8))]
        eol = rng.choice(["\n", "\r\n", "\r"])
        text = eol.join(lines) + eol * rng.randint(0, 1)
        at, changes, expected = 0, [], text.split(eol)
        shift = 0
        while at <= len(text.split(eol)) and rng.random() < 0.7:
            first = rng.randint(at, len(text.split(eol)))
            last = rng.randint(first, len(text.split(eol)))
            new = tuple(f"n{rng.randrange(10**6)}: 1" for _ in range(rng.randint(0, 2)))
            changes.append((first, last, new))
            expected[first + shift : last + shift] = new
            shift += len(new) - (last - first)
            at = last + 1
        if "".join(expected):
            found = after(*changes, text=text)
            assert found.split(eol) == expected or (eol not in text and len(expected) > 1)
