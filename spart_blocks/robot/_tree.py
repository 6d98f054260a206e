"""From links and joints by name to a tree: its root, its order, and its faults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from spart_blocks.base.errors import Place
from spart_blocks.robot._faults import Faults, names_list

ROOTS_SHOWN = 12


@dataclass(frozen=True)
class TreeEdge:
    """A joint as an edge of the tree: its place in the file and the links that it connects."""

    joint: str
    parent: str
    child: str
    place: Place


@dataclass
class Tree:
    """The root's name and the indices of the edges, depth first, children in file order."""

    root: str
    order: list[int] = field(default_factory=list)


def build_tree(
    links: Mapping[str, Place], edges: Sequence[TreeEdge], faults: Faults, *, incomplete: int = 0
) -> Tree | None:
    """Order a robot like SPART, or note why it is not a tree and return None. links: the place of
    each link; the edges name only these. incomplete: number of joints that could not be read or
    name unknown links, so that links without a parent because of them are not reported as roots.
    Linear in links and joints.
    """
    parent_edge: dict[str, TreeEdge] = {}
    children: dict[str, list[int]] = {name: [] for name in links}
    sound = True
    for index, edge in enumerate(edges):
        first = parent_edge.get(edge.child)
        if first is None:
            parent_edge[edge.child] = edge
            children[edge.parent].append(index)
            continue
        sound = False
        faults.add(
            f"link {edge.child!r} has two parents: joint {first.joint!r} (line "
            f"{first.place.line}) ties it to {first.parent!r}, joint {edge.joint!r} to "
            f"{edge.parent!r}",
            edge.place,
            "a URDF is a tree: each link is the child of one joint",
        )
    roots = [name for name in links if name not in parent_edge]
    looped = _note_loops(links, parent_edge, roots, children, edges, faults)
    if len(roots) > 1 + incomplete:
        _note_roots(roots, links, faults)
        sound = False
    if looped or not sound or len(roots) != 1:
        return None
    return Tree(roots[0], _depth_first(roots[0], children, edges))


def _depth_first(
    root: str, children: Mapping[str, list[int]], edges: Sequence[TreeEdge]
) -> list[int]:
    order = []
    waiting = list(reversed(children[root]))
    while waiting:
        index = waiting.pop()
        order.append(index)
        waiting.extend(reversed(children[edges[index].child]))
    return order


def _note_roots(roots: Sequence[str], links: Mapping[str, Place], faults: Faults) -> None:
    shown = names_list(roots[:ROOTS_SHOWN])
    more = f" and {len(roots) - ROOTS_SHOWN} more" if len(roots) > ROOTS_SHOWN else ""
    faults.add(
        f"{len(roots)} links have no parent, so the root is not known: {shown}{more}",
        links[roots[1]],
        "a robot has one root: tie the others to it with joints",
    )


def _note_loops(
    links: Mapping[str, Place],
    parent_edge: Mapping[str, TreeEdge],
    roots: Sequence[str],
    children: Mapping[str, list[int]],
    edges: Sequence[TreeEdge],
    faults: Faults,
) -> bool:
    """Note each loop once. Links that no root reaches are on a loop or depend on one."""
    seen = set(roots)
    for root in roots:
        seen.update(edges[index].child for index in _depth_first(root, children, edges))
    found = False
    for start in links:
        walk: dict[str, None] = {}
        name = start
        while name not in seen and name not in walk:
            walk[name] = None
            name = parent_edge[name].parent
        if name in walk:
            found = True
            members = list(walk)
            loop = [*members[members.index(name) :], name]
            path = " -> ".join(repr(member) for member in reversed(loop[-ROOTS_SHOWN:]))
            no_root = "; no link is left to be the root" if not roots else ""
            faults.add(
                f"the joints form a loop: {path}{no_root}",
                parent_edge[name].place,
                "a URDF is a tree: leave out one joint of the loop",
            )
        seen.update(walk)
    return found
