"""Changes of wires: connections added, removed and rerouted."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from spart_blocks.base.document import Keys
from spart_blocks.diagram.written.connections import (
    IN_ORDER,
    Connection,
    meant,
    renamed,
)
from spart_blocks.diagram.written.sheets import TOP, Sheet, Slot
from spart_blocks.versions.differences.changes import ABSENT, WIRE, Change
from spart_blocks.versions.differences.matched_versions import MatchedVersions, called

Found = list[Connection]


def wire_changes(pair: MatchedVersions) -> Iterator[Change]:
    """The changes of wires on all sheets that both files have."""
    for sheet, other in pair.sheets.items():
        names = pair.names_on(sheet)
        old, new = renamed(pair.old.found[sheet], names), pair.new.found[other]
        prefix = "" if other == TOP else f"{called(other)}: "
        for change in _between(pair, sheet, names, old, new):
            yield replace(change, path=prefix + change.path) if prefix else change
        before, after = _unreadable(pair.old.sheets[sheet]), _unreadable(pair.new.sheets[other])
        for text in before - after:
            yield Change(WIRE, "removed", prefix + text, note="cannot be read")
        for text in after - before:
            yield Change(WIRE, "added", prefix + text, note="cannot be read")


def _unreadable(sheet: Sheet | Slot) -> Counter[str]:
    """The texts of the wires of a sheet that cannot be read."""
    if isinstance(sheet, Slot):
        return Counter()
    return Counter(sheet.wire_texts[number] for number in sheet.wrong_wires)


def _between(
    pair: MatchedVersions, sheet: Keys, names: dict[str, str], old: Found, new: Found
) -> Iterator[Change]:
    """The changes from old to new connections of a sheet. names: new names of renamed blocks by the
    old."""
    gone, come = apart(old, new)
    if gone or come:
        if _need_ports(gone, come, old, new):
            back = {b: a for a, b in names.items()}
            other = pair.sheets[sheet]
            old = meant(old, old, lambda name: pair.old.ports(sheet, back.get(name, name)))
            new = meant(new, new, lambda name: pair.new.ports(other, name))
            gone, come = apart(old, new)
        yield from _reported(gone, come, old, new)
    yield from _orders(old, new, gone, come)


def apart(old: Found, new: Found) -> tuple[Found, Found]:
    """The connections that only old has, and those that only new has, in order."""
    if old == new:
        return [], []
    return _without(old, new), _without(new, old)


def _without(these: Found, those: Found) -> Found:
    """The first list less the entries of the second, each as often as it occurs."""
    left = Counter(those)
    kept = []
    for one in these:
        if left[one] > 0:
            left[one] -= 1
        else:
            kept.append(one)
    return kept


def _need_ports(gone: Found, come: Found, old: Found, new: Found) -> bool:
    """Whether connections that differ as written may be the same: `.*` leads to a block whose wires
    differ, or a port is written in several ways."""
    ends = {one.target for one in (*gone, *come)}
    if any(one.several and one.target in ends for one in (*old, *new)):
        return True
    inputs, outputs = defaultdict(set), defaultdict(set)
    for one in (*gone, *come):
        inputs[one.target].add(one.input)
        outputs[one.source].add(one.output)
    both = {one.target for one in gone} & {one.target for one in come}
    starts = {one.source for one in gone} & {one.source for one in come}
    return any(len(inputs[name]) > 1 for name in both) or any(
        len(outputs[name]) > 1 for name in starts
    )


def _reported(gone: Found, come: Found, old: Found, new: Found) -> Iterator[Change]:
    """Changes for connections that differ: another source of an input, another input of a source,
    then the rest as removed and added."""
    before, after = _inputs(gone, old), _inputs(come, new)
    rerouted = []
    for key, one in before.items():
        if key in after:
            rerouted.append((one, after[key]))
            yield Change(WIRE, "rerouted", one.end, one.start, after[key].start, note="from")
    gone = _without(gone, [one for one, _ in rerouted])
    come = _without(come, [one for _, one in rerouted])
    starts, ends = _alone(gone), _alone(come)
    moved = [(starts[key], ends[key]) for key in starts if key in ends]
    for one, other in moved:
        yield Change(WIRE, "rerouted", one.start, one.end, other.end, note="to")
    for one in _without(gone, [one for one, _ in moved]):
        yield Change(WIRE, "removed", str(one), str(one))
    for one in _without(come, [one for _, one in moved]):
        yield Change(WIRE, "added", str(one), ABSENT, str(one))


def _inputs(found: Found, every: Found) -> dict[tuple[str, str | None, int], Connection]:
    """The connections by (target block, input, number). The number counts the wires into a block
    that is filled in order (SCOPE, MUX) and is -1 elsewhere. every: all connections, which are
    numbered.
    """
    places: dict[Connection, list[int]] = defaultdict(list)
    counts: Counter[str] = Counter()
    for one in every:
        if one.input == IN_ORDER:
            places[one].append(counts[one.target])
            counts[one.target] += 1
    result = {}
    for one in found:
        number = places[one].pop() if places[one] else -1
        result[one.target, one.input, number] = one
    return result


def _alone(found: Iterable[Connection]) -> dict[tuple[str, str | None, str], Connection]:
    """The connections that are the only ones of their source."""
    starts: dict[tuple[str, str | None, str], list[Connection]] = defaultdict(list)
    for one in found:
        starts[one.source, one.output, one.part].append(one)
    return {key: ones[0] for key, ones in starts.items() if len(ones) == 1}


def _orders(old: Found, new: Found, gone: Found, come: Found) -> Iterator[Change]:
    """Changes of the order in which the inputs of a block are filled."""
    before, after = _sequences(old, gone), _sequences(new, come)
    for target, starts in before.items():
        now = after.get(target, [])
        if starts != now and sorted(starts) == sorted(now):
            yield Change(WIRE, "changed", target, starts, now, note="order of its inputs")


def _sequences(found: Sequence[Connection], apart: Found) -> dict[str, list[str]]:
    """The sources of each block whose inputs are filled in order. apart: connections left out."""
    sequences: dict[str, list[str]] = defaultdict(list)
    left = set(apart)
    for one in found:
        if one.input == IN_ORDER and one not in left:
            sequences[one.target].append(one.start)
    return sequences
