"""Three versions of a diagram become one, or a conflict in words."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from random_edits import random_sequence

import spart_blocks as sb
from spart_blocks.base.document import parse_document
from spart_blocks.base.errors import InputError
from spart_blocks.versions.differences.compare import pair_of
from spart_blocks.versions.differences.sides import DiffSide
from spart_blocks.versions.edits import (
    AddBlock,
    AddCondition,
    AddWire,
    Group,
    RemoveBlock,
    RemoveWire,
    RenameBlock,
    RenameChoice,
    RenameEntry,
    RenameParameter,
    RenamePort,
    RenameSignal,
    RenameState,
    RenameSubsystem,
    Set,
    Unset,
    Vary,
    edited,
)
from spart_blocks.versions.edits.operations import data_after
from spart_blocks.versions.edits.renaming import NewNames, Rename
from spart_blocks.versions.edits.steps import read_wire
from spart_blocks.versions.merge import merge

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "diagrams").rglob("*.yaml"))
BASE = (ROOT / "diagrams" / "spacecraft_pd.yaml").read_text(encoding="utf-8")


def read(text):
    return parse_document(text, "it").data


def of(*operations, text=BASE):
    return edited(text, operations).after


# --- an oracle of its own: the leaves of a file, and what becomes of each ---------------------

SETS = {"log", "effort", "tunable", "part", "keep", "settles", "stays_within", "never_exceeds",
        "conserved", "monotone", "final", "signals"}  # fmt: skip


def leaves(value, path=()):
    """Every value by its path; the sources of an input, and entries of sets, by what they are."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif path[-1:] == ("wires",) and isinstance(value, list) and all(map(is_wire, value)):
        found = {}
        for text in filter(str.strip, value):  # an empty one is left out
            wire = read_wire(text)
            for source, end in wire.connections():
                key = (end, source if wire.source.names is not None else "")
                found.setdefault(key, []).append(source)
        yield from (((*path, key), sources) for key, sources in found.items())
    elif path and path[-1] in SETS and isinstance(value, list):
        yield from (((*path, json.dumps(item, sort_keys=True)), True) for item in value)
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    elif not (value in ({}, []) and len(path) == 1):  # an empty section
        yield path, json.dumps(value)


def is_wire(text):
    try:
        return not text.strip() or bool(read_wire(text))
    except (InputError, AttributeError):
        return False


def both_are_there(base, ours, theirs, merged):
    """Whether each change of a side is in the merge."""
    sides = [dict(leaves(data)) for data in (base, ours, theirs, merged)]
    for path in set().union(*sides):
        before, mine, other, found = (side.get(path) for side in sides)
        if found != (other if mine == before else mine):
            return False
        if mine not in (before, found) or other not in (before, found):
            return False
    return True


RENAMES = (RenameBlock, RenameParameter, RenameEntry, RenamePort, RenameSubsystem, RenameChoice,
           RenameSignal, RenameState, Vary, AddCondition, Group)  # fmt: skip


def check_both_are_there(base, ours, theirs, merged):
    """Each change of a side is in the merge, once some of the names that one side has given are
    given in the other versions too. ours, theirs: each a text with its operations."""
    renames = [[one for one in side[1] if isinstance(one, RENAMES)] for side in (ours, theirs)]
    gone = [lost_blocks(base, side[0]) for side in (ours, theirs)]
    ours, theirs = (
        without_renames(side, own, others)
        for side, own, others in zip((ours, theirs), renames, reversed(gone), strict=True)
    )
    both = [*renames[0], *renames[1]]
    for number in reversed(range(len(both) + 1)):
        for kept in combinations(both, number):
            mine, other = ([one for one in kept if one in side] for side in renames)
            sides = after(ours[0], other, kept), after(theirs[0], mine, kept)
            # A group names its ports after blocks, which have other names if it comes last.
            for order in ([*mine, *other], [*other, *mine]):
                found = after(base, order, kept), *sides, read(merged)
                groups = [one.name for one in kept if isinstance(one, Group)]
                if both_are_there(*found):
                    return
                if both_are_there(*(with_ports_of_groups(data, groups) for data in found)):
                    return
    raise AssertionError((ours[1], theirs[1], merged))


def with_ports_of_groups(data, groups):
    """Data with the ports of groups named after what is inside."""
    for name in groups:
        section = data.get("subsystems", {}).get(name, {})
        names = {}
        for wire in map(read_wire, filter(is_wire, section.get("wires", ()))):
            if wire.source.block == "in":
                names.setdefault(("inputs", wire.source.port), str(wire.ends[0]))
            for end in wire.ends:
                if end.block == "out":
                    names.setdefault(("outputs", end.port), str(wire.source))
        for (side, port), inner in names.items():
            with suppress(InputError):
                new = f"of_{inner.replace('.', '_')}"
                data = data_after(data, RenamePort(port, new, side, name))
    return data


def lost_blocks(base, side):
    """The blocks of the base that a side does not have any more, as `diff` tells it."""
    pair = pair_of(*(DiffSide("it", parse_document(text, "it")) for text in (base, side)))
    return {
        name for sheet, name in pair.old.pieces if (sheet, name) not in pair.blocks and not sheet
    }


def without_renames(side, renames, lost):
    """A side with the former names of blocks that the other side has removed: these are gone, by
    whatever name. renames: those of the side, from which they are taken."""
    void = [one for one in renames if isinstance(one, RenameBlock) and one.name in lost]
    renames[:] = [one for one in renames if one not in void]
    back = [RenameBlock(one.new, one.name, one.within) for one in reversed(void)]
    return edited(side[0], back).after if back else side[0], side[1]


def after(text, operations, kept):
    """The data of a text after those of some operations that it allows. kept: all that are done, of
    which some give blocks other names, or put them into groups."""
    data = read(text)
    for one in operations:
        for way in (one, *ways(one, kept, data)):
            with suppress(InputError):
                data = data_after(data, way)
                break
    return data


def ways(operation, kept, data):
    """An operation as it is after others, which have renamed or grouped its blocks."""
    if isinstance(operation, RenameBlock):
        for one in kept:
            if isinstance(one, Group) and operation.name in one.blocks:
                yield replace(operation, within=one.name)
        if not operation.within:  # beside wires that cannot be read
            yield Rename(NewNames(blocks={((), operation.name): operation.new}))
    if isinstance(operation, RenamePort):
        for one in kept:
            if isinstance(one, RenameSubsystem) and one.name == operation.within:
                yield replace(operation, within=one.new)
    if isinstance(operation, Group):
        names = {one.name: one.new for one in kept if isinstance(one, RenameBlock)}
        blocks = tuple(names.get(one, one) for one in operation.blocks)
        yield replace(operation, blocks=blocks)
        yield replace(operation, blocks=tuple(one for one in blocks if one in data["blocks"]))


def changed(base, side):
    """The paths that a side has changed, and those around them up to a value of their own."""
    one, two = dict(leaves(read(base))), dict(leaves(read(side)))
    found = {path for path in one.keys() | two.keys() if one.get(path) != two.get(path)}
    return {
        (*path[:-1], path[-1][0].partition(".")[0]) if is_unnamed(path) else path for path in found
    }


def is_unnamed(path):
    """Whether this is an input that is told by its block alone, or by its number: it may be any of
    those with names."""
    if path[-2:-1] != ("wires",) or not isinstance(path[-1], tuple):
        return False
    port = path[-1][0].partition(".")[2]
    return not port or port.isdecimal()


def apart(one, two):
    """Whether no changed path of a side lies in one of the other."""
    heads = [{path[:n] for path in paths for n in range(2, len(path) + 1)} for paths in (one, two)]
    return not (heads[0] & two) and not (heads[1] & one)


def check_pair(path, seed):
    """Random edits on both sides: both are in the merge, whichever is ours, or it is a conflict;
    edits of different blocks and sections are none."""
    base = path.read_text(encoding="utf-8")
    rng = random.Random(seed)
    sides = [random_sequence(base, read, rng, most=3) for _ in range(2)]
    ours, theirs = (edited.after for _, edited, _ in sides)
    one, two = merge(base, ours, theirs), merge(base, theirs, ours)
    assert (one.text is None) == (two.text is None)
    mine, other = changed(base, ours), changed(base, theirs)
    if one.text is not None:
        check_both_are_there(base, (ours, sides[0][0]), (theirs, sides[1][0]), one.text)
        assert dict(leaves(read(one.text))) == dict(leaves(read(two.text)))
    else:
        assert one.conflicts
        # Wires of which one cannot be read are one value.
        whole = {p[:-1] for p in mine | other if p[-2:-1] == ("wires",) and isinstance(p[-1], int)}
        tops = [{p[:-1] if p[:-1] in whole else p[:2] for p in side} for side in (mine, other)]
        assert tops[0] & tops[1] or not apart(mine, other), (one.conflicts, mine, other)
    for text in (ours, theirs):
        assert merge(base, base, text).text == text
        assert merge(base, text, base).text == text
        assert merge(base, text, text).text == text


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_random_edits_merge_whole_or_not_at_all(path):
    for seed in range(2):
        check_pair(path, seed)


# --- by hand ---------------------------------------------------------------------------------


def test_edits_of_two_blocks_and_their_wires_merge():
    ours = of(Set("params.kp", [1, 2, 3]), AddBlock("n", "NORM"), AddWire("plant.um -> n"))
    theirs = of(AddBlock("s", "SCOPE"), AddWire("plant.qm -> s"), Set("run.T", 5))
    merged = merge(BASE, ours, theirs, ROOT / "diagrams" / "spacecraft_pd.yaml")
    assert merged.conflicts == ()
    data = read(merged.text)
    assert data["params"]["kp"] == [1, 2, 3]
    assert data["run"]["T"] == 5
    assert {"n", "s"} <= data["blocks"].keys()
    assert {"plant.um -> n", "plant.qm -> s"} <= set(data["wires"])


CONFLICTS = [
    (Set("run.T", 5), Set("run.T", 6), "run.T: ours has"),
    (Set("joints.title", "Q"), RemoveBlock("joints"), "blocks.joints: ours"),
    (AddBlock("x", "GAIN", {"K": 1}), AddBlock("x", "GAIN", {"K": 2}), "blocks.x: ours has"),
    (RenameBlock("plant", "a"), RenameBlock("plant", "b"), "block plant: ours calls it"),
    (
        RemoveWire("qd -> ctrl.qd"),
        [RemoveWire("qd -> ctrl.qd"), AddWire("plant.qm -> ctrl.qd")],
        "wires.to ctrl.qd: ours",
    ),
]


@pytest.mark.parametrize(("left", "right", "told"), CONFLICTS)
def test_what_both_change_is_a_conflict_in_words(left, right, told):
    for ours, theirs in ((left, right), (right, left)):
        merged = merge(BASE, edited(BASE, ours).after, edited(BASE, theirs).after)
        assert merged.text is None
        text = "\n".join(map(str, merged.conflicts))
        assert told in text


def test_a_merge_that_does_not_load_is_a_conflict():
    path = ROOT / "diagrams" / "spacecraft_pd.yaml"
    ours, theirs = (
        of(Set("ctrl.kp", [40, 40, 10]), Unset("params.kp")),
        of(AddBlock("n", "GAIN", {"K": "$kp"}), AddWire("plant.um -> n")),
    )
    assert merge(BASE, ours, theirs).text is not None
    merged = merge(BASE, ours, theirs, path)
    assert merged.text is None
    assert "together they are not" in str(merged.conflicts[0])
    assert "kp" in str(merged.conflicts[0])


def test_two_wires_into_the_next_free_input_are_a_conflict():
    base = "blocks: {a: {type: TIME}, b: {type: TIME}, s: {type: SCOPE}}\nwires: []\n"
    ours, theirs = of(AddWire("a -> s"), text=base), of(AddWire("b -> s"), text=base)
    merged = merge(base, ours, theirs)
    assert str(merged.conflicts[0]) == "wires.to s: ours has a, theirs has b"


def test_comments_of_ours_stay_and_those_of_theirs_do_no_harm():
    ours = BASE.replace("run:", "# my remark\nrun:")
    theirs = of(Set("run.T", 7)).replace("blocks:", "blocks: # theirs")
    merged = merge(BASE, ours, theirs)
    assert "# my remark\nrun:" in merged.text
    assert read(merged.text)["run"]["T"] == 7


def test_what_theirs_adds_keeps_its_comments():
    theirs = BASE.replace(
        "wires:\n", "  n: {type: NORM} # of rates\nwires:\n  - plant.um -> n # new\n"
    )
    merged = merge(BASE, of(Set("run.T", 7)), theirs)
    assert "  n: {type: NORM} # of rates\n" in merged.text
    assert "  - plant.um -> n # new\n" in merged.text


def test_both_sides_may_make_a_section():
    base = "name: a\nblocks: {x: {type: TIME}}\n"
    ours = of(Set("params.k", 1), text=base)
    theirs = of(Set("params.j", 2), text=base)
    assert read(merge(base, ours, theirs).text)["params"] == {"k": 1, "j": 2}


def test_a_version_that_is_no_yaml_is_named():
    with pytest.raises(sb.DiagramError, match="theirs:2"):
        merge(BASE, of(Set("run.T", 5)), "a: [1")


@pytest.mark.parametrize("is_ours", [True, False])
def test_a_block_that_one_side_moves_and_the_other_makes_variants_of_is_a_conflict(is_ours):
    base = (ROOT / "diagrams" / "controllers" / "pd.yaml").read_text(encoding="utf-8")
    moved, varied = of(Group("law", ("pd",)), text=base), of(Vary("pd", "one"), text=base)
    mover, other = ("ours", "theirs") if is_ours else ("theirs", "ours")
    found = merge(base, *((moved, varied) if is_ours else (varied, moved)))
    assert f"block pd: {mover} has it as law/pd, {other} has variants of it" in [
        str(one) for one in found.conflicts
    ]


@pytest.mark.parametrize("is_ours", [True, False])
def test_a_block_that_one_side_moves_and_the_other_removes_is_a_conflict(is_ours):
    base = (ROOT / "diagrams" / "controllers" / "pd.yaml").read_text(encoding="utf-8")
    moved = of(Group("law", ("pd",)), text=base)
    removed = of(RemoveBlock("pd"), text=base)
    mover, remover = ("ours", "theirs") if is_ours else ("theirs", "ours")
    found = merge(base, *((moved, removed) if is_ours else (removed, moved)))
    assert found.text is None
    told = f"block pd: {mover} has it as law/pd, {remover} removes it"
    assert told in [str(one) for one in found.conflicts]
