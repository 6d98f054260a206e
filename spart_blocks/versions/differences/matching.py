"""The matching of the blocks of two files, renamed and moved blocks included.

Blocks of the same sheet, name and type are the same block. Of the others, those with the same type,
parameters and neighbours are found by hashes of these, as in the Weisfeiler-Leman refinement of
graphs; the rest by a score of parameters and neighbours, starting next to matched blocks. All of
this is linear in the number of blocks and wires.

Source: B. Weisfeiler and A. Leman, "The reduction of a graph to canonical form" (1968).
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from spart_blocks.base.document import Keys
from spart_blocks.diagram.written.connections import Connection
from spart_blocks.diagram.written.sheets import Name, WrittenBlock
from spart_blocks.versions.differences.values import frozen

ALIKE = 0.6
"""The lowest score at which two blocks are taken for one block that was renamed."""
PARAMETERS, NEIGHBOURS = 0.4, 0.6
"""Weights of equal parameters and of equal neighbours in the score."""
ROUNDS = 3
"""Rounds of hashing: neighbours up to so many links away count."""
MOST_NEAR = 20
"""Candidates for one block."""
MOST_ASKED, MOST_LINKS = 4, 400
"""Times that a block is compared with its candidates, and links that are compared: a signal that
goes to very many blocks says little about each."""

Link = tuple[str, str | None, str | None, str | None]
"""A link of a block: its direction, "in" or "out", the block's own port, the port at the other end,
and the slice of the signal."""


@dataclass
class LinkGraph:
    """The blocks of one file, and the links of each to others."""

    pieces: Mapping[Name, WrittenBlock]
    links: dict[Name, list[tuple[Link, Name]]] = field(default_factory=lambda: defaultdict(list))

    @staticmethod
    def of(
        pieces: Mapping[Name, WrittenBlock], found: Mapping[Keys, Iterable[Connection]]
    ) -> LinkGraph:
        web = LinkGraph(pieces)
        for sheet, connections in found.items():
            for one in connections:
                a, b = (sheet, one.source), (sheet, one.target)
                web.links[a].append((("out", one.output, one.input, one.part), b))
                web.links[b].append((("in", one.input, one.output, one.part), a))
        return web


def matched(
    old: LinkGraph, new: LinkGraph, kinds: Mapping[str, str], sheets: Mapping[Keys, Keys]
) -> dict[Name, Name]:
    """The new block of each old block that has one. kinds, sheets: new names of renamed subsystem
    types and sheets, by the old ones."""
    matching = _Matching(old, new, kinds, sheets)
    matching.by_name()
    if matching.left_old and matching.left_new:
        matching.by_surroundings()
        matching.moved()
        matching.grow(0.9)
        matching.grow(ALIKE)
        matching.retyped()
    return matching.pairs


class _Matching:
    """A matching in progress. pairs: new blocks by old ones. back: old blocks by new ones.
    left_old, left_new: blocks that are not matched yet."""

    def __init__(
        self, old: LinkGraph, new: LinkGraph, kinds: Mapping[str, str], sheets: Mapping[Keys, Keys]
    ) -> None:
        self.old, self.new, self.sheets = old, new, sheets
        self.kinds = {name: kinds.get(piece.kind, piece.kind) for name, piece in old.pieces.items()}
        self.pairs: dict[Name, Name] = {}
        self.back: dict[Name, Name] = {}
        self.left_old = dict.fromkeys(old.pieces)
        self.left_new = dict.fromkeys(new.pieces)

    def pair(self, a: Name, b: Name) -> None:
        """Match an old block with a new one."""
        self.pairs[a], self.back[b] = b, a
        del self.left_old[a], self.left_new[b]

    def here(self, a: Name) -> Name:
        """The name that an old block has in the new file if it is neither renamed nor moved."""
        return self.sheets.get(a[0], a[0]), a[1]

    def by_name(self) -> None:
        """Match blocks of the same sheet, name and type."""
        for a in list(self.left_old):
            b = self.here(a)
            piece = self.new.pieces.get(b)
            if piece is not None and piece.kind == self.kinds[a]:
                self.pair(a, b)

    # --- same surroundings --------------------------------------------------------

    def by_surroundings(self) -> None:
        """Match blocks of the same type, parameters and neighbours up to ROUNDS links away, if each
        file has exactly one such block."""
        kinds = {name: piece.kind for name, piece in self.new.pieces.items()}
        olds = self._hashes(self.old, self.left_old, self.kinds, self.pairs.get)
        news = self._hashes(self.new, self.left_new, kinds, lambda name: name)
        for before, after in zip(reversed(olds), reversed(news), strict=True):
            self._pair_only(before, after)

    def _hashes(
        self,
        web: LinkGraph,
        left: Iterable[Name],
        kinds: Mapping[Name, str],
        known: Callable[[Name], Name | None],
    ) -> list[dict[Name, Hashable]]:
        """The hashes of unmatched blocks, one mapping for each round: with neighbours one link
        away, then up to two links away, and so on."""
        hashes: dict[Name, Hashable] = {}
        for one in left:
            hashes[one] = hash((kinds[one], frozen(web.pieces[one].parameters)))
        rounds = []
        for _ in range(ROUNDS):
            hashes = {
                one: hash((colour, frozenset(self._around(web, one, hashes, known))))
                for one, colour in hashes.items()
            }
            rounds.append(hashes)
        return rounds

    def _around(
        self,
        web: LinkGraph,
        one: Name,
        hashes: Mapping[Name, Hashable],
        known: Callable[[Name], Name | None],
    ) -> Iterator[Hashable]:
        """What the neighbours of a block add to its hash."""
        for link, other in web.links[one]:
            if other in hashes:
                yield link, hashes[other]
            else:  # a gate of a subsystem is known by its name
                yield link, known(other) or (self.sheets.get(other[0], other[0]), other[1])

    def _pair_only(self, olds: Mapping[Name, Hashable], news: Mapping[Name, Hashable]) -> None:
        """Match blocks whose hash occurs once in each file."""
        at: dict[Hashable, list[Name]] = {}
        for b, colour in news.items():
            if b in self.left_new:
                at.setdefault(colour, []).append(b)
        mine: dict[Hashable, list[Name]] = {}
        for a, colour in olds.items():
            if a in self.left_old:
                mine.setdefault(colour, []).append(a)
        for colour, names in mine.items():
            if len(names) == 1 and len(at.get(colour, ())) == 1:
                a, b = names[0], at[colour][0]
                if self.score(a, b) >= ALIKE:
                    self.pair(a, b)

    # --- moved, renamed and changed, retyped --------------------------------------

    def moved(self) -> None:
        """Match blocks of the same name and type on different sheets, if there is one of them."""
        at: dict[tuple[str, str], list[Name]] = {}
        for b in self.left_new:
            at.setdefault((b[1], self.new.pieces[b].kind), []).append(b)
        for a in list(self.left_old):
            found = at.get((a[1], self.kinds[a]), [])
            if len(found) == 1 and found[0] in self.left_new:
                self.pair(a, found[0])

    def grow(self, least: float) -> None:
        """Match blocks next to matched ones whose score with the best candidate is at least
        `least`."""
        waiting = deque(self.left_old)
        asked = dict.fromkeys(waiting, 0)
        while waiting:
            a = waiting.popleft()
            if a not in self.left_old:
                continue
            asked[a] += 1
            best = self._best(a, least)
            if best is not None:
                self.pair(a, best)
                near = (other for _, other in self.old.links[a])
                waiting.extend(b for b in near if b in self.left_old and asked[b] < MOST_ASKED)

    def _best(self, a: Name, least: float) -> Name | None:
        """The candidate with the highest score, the first of several; None if all are below
        `least`."""
        best, most = None, least
        for b in self.candidates(a):
            score = self.score(a, b)
            if score > most or (best is None and score >= least):
                best, most = b, score
            if most >= 1.0:
                break
        return best

    def candidates(self, a: Name) -> dict[Name, None]:
        """Unmatched new blocks of the same type that have one of the block's links to the same
        neighbour. For a block without links: those without links on the same sheet."""
        found: dict[Name, None] = {}
        for link, other in self.old.links[a][:MOST_NEAR]:
            beside = self.pairs.get(other, self.here(other))
            for b in self.by_link(beside, link):
                if b in self.left_new and self.new.pieces[b].kind == self.kinds[a]:
                    found[b] = None
            if len(found) >= MOST_NEAR:
                break
        if not self.old.links[a]:
            found = dict.fromkeys(self._alone.get((self.here(a)[0], self.kinds[a]), [])[:MOST_NEAR])
            found = {b: None for b in found if b in self.left_new}
        return found

    def by_link(self, beside: Name, link: Link) -> list[Name]:
        """Unmatched new blocks that have the given link to the block `beside`."""
        waiting = self._linked.get((beside, link))
        while waiting and waiting[0] not in self.left_new:
            waiting.popleft()
        return list(islice(waiting, MOST_NEAR)) if waiting else []

    @cached_property
    def _linked(self) -> dict[tuple[Name, Link], deque[Name]]:
        """Unmatched new blocks, by a neighbour and the link to it."""
        found: dict[tuple[Name, Link], deque[Name]] = defaultdict(deque)
        for b in self.left_new:
            for link, other in self.new.links[b]:
                found[other, link].append(b)
        return found

    @cached_property
    def _alone(self) -> dict[tuple[Keys, str], list[Name]]:
        """Unmatched new blocks without links, by sheet and type."""
        found: dict[tuple[Keys, str], list[Name]] = defaultdict(list)
        for b in self.left_new:
            if not self.new.links[b]:
                found[b[0], self.new.pieces[b].kind].append(b)
        return found

    def score(self, a: Name, b: Name) -> float:
        """The similarity of two blocks of one type, from 0 to 1."""
        links = {
            (link, self.pairs.get(other, self.here(other)))
            for link, other in self.old.links[a][:MOST_LINKS]
            if other not in self.left_old
        }
        others = {
            (link, other)
            for link, other in self.new.links[b][:MOST_LINKS]
            if other not in self.left_new
        }
        whole = len(links | others)
        if whole:
            near = len(links & others) / whole
        else:
            near = 1.0 if len(self.old.links[a]) == len(self.new.links[b]) else 0.0
        alike = _alike(self.old.pieces[a].parameters, self.new.pieces[b].parameters)
        return PARAMETERS * alike + NEIGHBOURS * near

    def retyped(self) -> None:
        """Match blocks of the same sheet and name that have different types."""
        for a in list(self.left_old):
            if self.here(a) in self.left_new:
                self.pair(a, self.here(a))


def _alike(old: Mapping[str, object], new: Mapping[str, object]) -> float:
    """The share of equal parameters. One that both have with different values counts half."""
    names = {*old, *new}
    if not names:
        return 1.0
    both = old.keys() & new.keys()
    return sum(1.0 if frozen(old[n]) == frozen(new[n]) else 0.5 for n in both) / len(names)
