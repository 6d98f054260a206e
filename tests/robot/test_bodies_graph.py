"""The graph of bodies and joints: its spanning tree and its chords."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spart_blocks.robot.graph import GROUND, Tie, spanning_tree

# Reference 002: bodies 0 to 10, -1 is the fixed frame; joints A to P.
DELTA_BODIES = [str(i) for i in range(11)]
DELTA = """
A -1 0 rigid, B 0 1 Rz, C 0 3 Rz, D 0 2 Rz,
E 1 5 spherical, F 1 9 spherical, G 3 6 spherical, H 3 7 spherical,
I 2 8 spherical, J 2 4 spherical, K 5 10 spherical, L 9 10 spherical,
M 6 10 spherical, N 7 10 spherical, O 8 10 spherical, P 4 10 spherical
"""


def tie(text):
    name, parent, child, kind = text.split()
    return Tie(name, kind, *(GROUND if body == "-1" else body for body in (parent, child)))


def delta():
    return [tie(text) for text in DELTA.split(",")]


def test_the_delta_robot_gives_the_tables_of_its_reference():
    graph = spanning_tree(DELTA_BODIES, delta())
    index = {body.name: body.index for body in graph.bodies}
    virtual = [body for body in graph.bodies if body.of]
    assert [(body.index, body.of) for body in virtual] == [(i, "10") for i in range(11, 16)]
    chords = [(index[chord.parent], index[chord.child]) for chord in graph.chords]
    assert chords == [(11, 10), (12, 10), (13, 10), (14, 10), (15, 10)]
    assert [joint.name for joint in graph.joints] == list("ABCDEFGHIJKLMNOP")
    assert [body.index for body in graph.bodies] == [
        *(-1, 0, 1, 3, 2, 5, 9, 6, 7, 8, 4, 10, 11, 12, 13, 14, 15)
    ]
    assert not any(joint.flipped for joint in graph.joints)
    assert [chord.joint for chord in graph.chords] == list("LMNOP")


def test_each_cut_joint_leads_to_its_virtual_body():
    graph = spanning_tree(DELTA_BODIES, delta())
    ends = {joint.name: joint.far for joint in graph.joints}
    assert [ends[chord.joint] for chord in graph.chords] == [c.parent for c in graph.chords]
    assert [joint.name for joint in graph.tree] == list("ABCDEFGHIJK")


@given(st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_the_delta_robot_in_any_order_and_sense_has_a_tree_of_one_size(random):
    ties = delta()
    random.shuffle(ties)
    bodies = random.sample(DELTA_BODIES, 11)
    turned = [Tie(t.name, t.kind, t.child, t.parent) if random.random() < 0.5 else t for t in ties]
    _check(bodies, turned, spanning_tree(bodies, turned))


@given(st.integers(1, 12), st.data())
@settings(max_examples=60, deadline=None)
def test_any_connected_graph_has_a_tree_that_reaches_each_body_once(n, data):
    bodies = [f"b{i}" for i in range(n)]
    nodes = [GROUND, *bodies]
    pairs = [(nodes[data.draw(st.integers(0, i))], nodes[i + 1]) for i in range(n)]
    place = st.integers(0, n)
    more = data.draw(st.lists(st.tuples(place, place).filter(lambda p: p[0] != p[1]), max_size=15))
    pairs += [(nodes[a], nodes[b]) for a, b in more]
    ties = [
        Tie(f"j{i}", "Rz", *(pair if data.draw(st.booleans()) else pair[::-1]),
            keep=data.draw(st.booleans()), cut=data.draw(st.booleans()))
        for i, pair in enumerate(data.draw(st.permutations(pairs)))
    ]  # fmt: skip
    graph = spanning_tree(bodies, ties)
    _check(bodies, ties, graph)
    chords = {chord.joint for chord in graph.chords}
    kept = [t for t in ties if t.keep]
    # Of those to be kept only as many are cut as close loops among themselves.
    assert len(chords & {t.name for t in kept}) == len(kept) - _rank(nodes, kept)
    # And of those to be cut only as many stay as the others leave bodies apart.
    rest = [t for t in ties if t.keep or not t.cut]
    stay = [t for t in ties if t.cut and not t.keep and t.name not in chords]
    assert len(stay) == n - _rank(nodes, rest)


def _rank(nodes, ties):
    """How many of the joints a tree of them has: the rank of their incidence matrix."""
    M = np.zeros((len(nodes), len(ties) + 1))
    for k, t in enumerate(ties):
        M[nodes.index(t.parent), k], M[nodes.index(t.child), k] = -1, 1
    return np.linalg.matrix_rank(M)


def _check(bodies, ties, graph):
    assert len(graph.chords) == len(ties) - len(bodies)
    assert len(graph.tree) == len(bodies)
    reached = [joint.far for joint in graph.tree]
    assert sorted(reached) == sorted(bodies)
    assert not graph.unreached
    levels = [body.level for body in graph.bodies]
    level = {body.name: body.level for body in graph.bodies}
    assert all(level[joint.far] == level[joint.near] + 1 == joint.level for joint in graph.joints)
    assert levels == sorted(levels)
    assert sorted(b.index for b in graph.bodies) == list(range(-1, len(ties)))
    given_ends = {t.name: (t.parent, t.child) for t in ties}
    of = {body.name: body.of or body.name for body in graph.bodies}
    for joint in graph.joints:
        assert (of[joint.parent], of[joint.child]) == given_ends[joint.name]
        assert joint.near == (joint.child if joint.sense < 0 else joint.parent)
    for chord in graph.chords:
        assert of[chord.parent] == chord.child


def test_joints_to_the_ground_come_first_in_either_sense():
    ties = [tie("X a b Rz"), tie("Y b -1 Rz"), tie("Z -1 a Rz")]
    graph = spanning_tree(["a", "b"], ties)
    assert [(j.name, j.sense, j.level) for j in graph.joints] == [
        *(("Y", -1, 1), ("Z", 1, 1), ("X", -1, 2))
    ]
    (chord,) = graph.chords
    assert (chord.joint, chord.child) == ("X", "a")
    assert next(j for j in graph.joints if j.name == "X").parent == chord.parent


def test_a_model_without_ground_floats_at_its_first_body():
    graph = spanning_tree(["a", "b"], [tie("float b a Rz")])
    assert graph.floating == "a"
    first, second = graph.joints
    assert (first.kind, first.parent, first.child, first.added) == ("float", GROUND, "a", True)
    assert first.name != second.name == "float"
    assert second.flipped
    assert not second.added


def test_another_base_may_float():
    assert spanning_tree(["a", "b"], [tie("j a b Rz")], "b").floating == "b"


def test_a_joint_to_be_cut_is_cut_in_the_place_of_another():
    ties = [tie("J1 -1 a Rz"), tie("J2 a b Rz"), tie("J3 b c Rz"), tie("J4 -1 c Rz")]
    assert [c.joint for c in spanning_tree(["a", "b", "c"], ties).chords] == ["J3"]
    ties[0] = Tie("J1", "Rz", GROUND, "a", cut=True)
    graph = spanning_tree(["a", "b", "c"], ties)
    assert [c.joint for c in graph.chords] == ["J1"]
    assert [(j.name, j.flipped) for j in graph.tree] == [("J4", False), ("J3", True), ("J2", True)]


def test_a_joint_to_be_kept_is_in_the_tree():
    ties = [tie("J1 -1 a Rz"), tie("J2 a b Rz"), Tie("J3", "Rz", "b", "c", keep=True)]
    ties.append(tie("J4 -1 c Rz"))
    assert [c.joint for c in spanning_tree(["a", "b", "c"], ties).chords] == ["J2"]


@pytest.mark.parametrize("names", [["a", "b", "c", "d"], ["d", "c", "b", "a"]])
def test_bodies_that_no_joint_reaches_are_told(names):
    graph = spanning_tree(names, [tie("j -1 a Rz"), tie("k c d Rz")])
    assert graph.unreached == tuple(name for name in names if name != "a")
    assert [body.name for body in graph.bodies] == [GROUND, "a"]
