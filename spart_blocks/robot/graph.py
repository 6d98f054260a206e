"""From bodies and the joints between them, in any order and direction, to a tree and its chords.

The tree is built breadth first, starting with the joints to the fixed frame, each body's joints in
the user's order. A joint that is reached from its child has negative sense. A joint to a body that
is already in the tree leads to a virtual body instead, and the chord constraint between the two
closes the loop. Bodies and joints are then in level-increasing order. The user may request that a
joint is kept in the tree (its coordinate is needed) or cut in preference to others; then the tree
is chosen with the joints to keep first and the joints to cut last, as in Kruskal's algorithm.

Sources: R. Featherstone, "Rigid Body Dynamics Algorithms" (2008), sec. 4.1, for spanning
trees and chords; J. B. Kruskal, "On the shortest spanning subtree of a graph and the traveling
salesman problem", Proc. Amer. Math. Soc. 7 (1956).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

GROUND = "ground"
"""The fixed frame."""


@dataclass(frozen=True)
class Tie:
    """A joint as given by the user. keep: its coordinate is needed, so it should be in the tree.
    cut: the loop should preferably be cut here.
    """

    name: str
    kind: str
    parent: str
    child: str
    keep: bool = False
    cut: bool = False


@dataclass(frozen=True)
class GraphBody:
    """A body of the cut model. index: -1 for the fixed frame, then the user's order, then the
    virtual bodies. level: the number of joints that lead to it. joint: the last of them. of: the
    body that a virtual one represents."""

    index: int
    name: str
    level: int
    joint: str | None = None
    of: str | None = None


@dataclass(frozen=True)
class GraphJoint:
    """A joint of the cut model. parent and child are the user's, or the virtual body in the
    place of one. sense: 1, or -1 where the child is nearer to the root. level: that of the
    body it leads to. added: the float joint of a model without ground, which the user did not
    give."""

    name: str
    kind: str
    parent: str
    child: str
    sense: int
    level: int
    added: bool = False

    @property
    def flipped(self) -> bool:
        """Whether it is against the tree."""
        return self.sense < 0

    @property
    def near(self) -> str:
        """The body on the side of the root."""
        return self.child if self.flipped else self.parent

    @property
    def far(self) -> str:
        """The body that it leads to."""
        return self.parent if self.flipped else self.child


@dataclass(frozen=True)
class Chord:
    """A chord constraint: the virtual body `parent` is where `child` is. joint: the joint that
    leads to the virtual body, which is cut."""

    joint: str
    kind: str
    parent: str
    child: str


@dataclass(frozen=True)
class BodiesGraph:
    """The cut model in level-increasing order, the fixed frame first among the bodies. floating:
    the body that an added float joint connects to the fixed frame, if the user gives no joint to
    it. unreached: bodies that no joint leads to."""

    bodies: tuple[GraphBody, ...]
    joints: tuple[GraphJoint, ...]
    chords: tuple[Chord, ...]
    floating: str | None = None
    unreached: tuple[str, ...] = ()

    @property
    def tree(self) -> tuple[GraphJoint, ...]:
        """The joints that are not cut."""
        cut = {chord.joint for chord in self.chords}
        return tuple(joint for joint in self.joints if joint.name not in cut)


def spanning_tree(
    bodies: Sequence[str], ties: Sequence[Tie], base: str | None = None
) -> BodiesGraph:
    """The tree and the chords of bodies and joints. base: the body that floats where no joint
    leads to the ground, the first by default. Each tie joins two different bodies, or
    a body and the ground; names are used once. Linear in bodies and joints, but for a sort.
    """
    floating = None
    if not any(GROUND in (tie.parent, tie.child) for tie in ties):
        floating = base or bodies[0]
        name = _unused("float", {tie.name for tie in ties})
        ties = [Tie(name, "float", GROUND, floating), *ties]
    neighbours: dict[str, list[Tie]] = {name: [] for name in (GROUND, *bodies)}
    for tie in ties:
        neighbours[tie.parent].append(tie)
        neighbours[tie.child].append(tie)
    graph = _walk(bodies, neighbours, _left_out(_breadth_first(neighbours)))
    if floating is None:
        return graph
    first = replace(graph.joints[0], added=True)
    return replace(graph, joints=(first, *graph.joints[1:]), floating=floating)


def _unused(name: str, taken: Iterable[str]) -> str:
    taken = set(taken)
    while name in taken:
        name += "'"
    return name


def _breadth_first(neighbours: Mapping[str, Sequence[Tie]]) -> list[Tie]:
    """The joints in the order in which they are reached from the ground."""
    order: list[Tie] = []
    taken: set[str] = set()
    reached = {GROUND}
    waiting = deque([GROUND])
    while waiting:
        body = waiting.popleft()
        met = [tie for tie in neighbours[body] if tie.name not in taken]
        taken.update(tie.name for tie in met)
        order += met
        ends = [tie.child if tie.parent == body else tie.parent for tie in met]
        fresh = [end for end in dict.fromkeys(ends) if end not in reached]
        reached.update(fresh)
        waiting += fresh
    return order


def _left_out(order: Sequence[Tie]) -> set[str]:
    """The joints that close loops when those to be kept are taken first, those to be cut last,
    and the others as they are met."""
    leader: dict[str, str] = {}

    def root(body: str) -> str:
        while (up := leader.setdefault(body, body)) != body:
            leader[body] = body = leader[up]
        return body

    chords = set()
    for tie in sorted(order, key=lambda tie: (not tie.keep, tie.cut)):
        a, b = root(tie.parent), root(tie.child)
        if a == b:
            chords.add(tie.name)
        leader[a] = b
    return chords


def _walk(
    bodies: Sequence[str], neighbours: Mapping[str, Sequence[Tie]], left_out: set[str]
) -> BodiesGraph:
    """Bodies and joints in level-increasing order; a joint that is left out leads to a virtual
    body."""
    index = {name: i for i, name in enumerate((GROUND, *bodies), start=-1)}
    found = {GROUND: GraphBody(-1, GROUND, 0)}
    joints: list[GraphJoint] = []
    chords: list[Chord] = []
    met: set[str] = set()
    waiting = deque((tie, GROUND) for tie in neighbours[GROUND])
    met.update(tie.name for tie, _ in waiting)
    while waiting:
        tie, near = waiting.popleft()
        sense = 1 if tie.parent == near else -1
        body = tie.child if sense > 0 else tie.parent
        level = found[near].level + 1
        name = body
        if tie.name in left_out:
            name = _unused(f"virtual {len(chords) + 1}", index)
            index[name] = len(index) - 1
            chords.append(Chord(tie.name, tie.kind, name, body))
        found[name] = GraphBody(index[name], name, level, tie.name, body if name != body else None)
        parent, child = (near, name) if sense > 0 else (name, near)
        joints.append(GraphJoint(tie.name, tie.kind, parent, child, sense, level))
        fresh = [t for t in neighbours[body] if t.name not in met] if name == body else []
        met.update(t.name for t in fresh)
        waiting += [(t, body) for t in fresh]
    unreached = tuple(name for name in bodies if name not in found)
    return BodiesGraph(tuple(found.values()), tuple(joints), tuple(chords), unreached=unreached)
