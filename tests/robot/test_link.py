"""The link object: what it is made of, what it refuses, and the toolbox's own numbers."""

from __future__ import annotations

import copy
import json
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import spart_blocks as sb
from spart_blocks.base.errors import RobotError

GOLDEN = json.loads((Path(__file__).parents[1] / "golden/rt_link.json").read_text())
# A row of the toolbox's manual, which ends with G.
DYN_ROW = [
    *(-math.pi / 2, 0, 0, 0.412, 0, 9.29, 0, 0.0175, -0.1105),
    *(0.276, 0.255, 0.071, 0, 0, 0, 0.953, 1),
]
FIGURES = st.floats(-1e3, 1e3)
SIZES = st.floats(0, 1e3)


def golden_link(entry, mdh):
    row = [entry["alpha"], entry["a"], entry["theta"], entry["d"], 0]
    fields = {key: entry[key] for key in ("offset", "m", "r", "I", "Jm", "G", "B", "Tc")}
    return sb.Link(row, "modified" if mdh else "standard", **fields)


# --- golden -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GOLDEN["robots"])
def test_transforms_and_friction_of_the_puma_are_the_toolboxs(name):
    robot = GOLDEN["robots"][name]
    links = [golden_link(entry, robot["mdh"]) for entry in robot["links"]]
    for state in robot["states"]:
        A = [link.link(q) for link, q in zip(links, state["q"], strict=True)]
        assert_allclose(A, state["A"], rtol=0, atol=1e-12)
        load = [link.friction(qd) for link, qd in zip(links, state["qd"], strict=True)]
        assert_allclose(load, state["friction_load"], rtol=1e-12)


@pytest.mark.parametrize("case", GOLDEN["single_links"])
def test_a_joint_of_either_type_offset_and_flipped_moves_as_the_toolboxs(case):
    fields = {"sigma": int(case["prismatic"]), "offset": case["offset"], "flip": case["flip"]}
    fields |= {"A": case["a"], "alpha": case["alpha"], "mdh": case["mdh"]}
    fields |= {"theta": case["theta"]} if case["prismatic"] else {"D": case["d"]}
    assert_allclose(sb.Link(**fields)(case["q"]), case["A"], rtol=0, atol=1e-12)


@pytest.mark.parametrize("case", GOLDEN["friction_cases"])
def test_friction_follows_the_sign_of_the_joint_whatever_the_gear(case):
    link = sb.Link(G=case["G"], B=case["B"], Tc=case["Tc"])
    assert_allclose(link.friction(case["qd"]), -case["friction_rtb"], rtol=1e-12)


def test_friction_is_none_at_rest_and_brakes_either_way():
    link = sb.Link(G=-50, B=1e-3, Tc=[0.3, -0.2])
    assert link.friction(0) == 0
    assert link.friction(2) == pytest.approx(50**2 * 1e-3 * 2 + 50 * 0.3)
    assert link.friction(-2) == pytest.approx(-(50**2) * 1e-3 * 2 - 50 * 0.2)


# --- rows, copies, conventions ----------------------------------------------------------------


def test_a_link_of_nothing_does_nothing():
    link = sb.Link()
    assert_array_equal(link.dyn, [0] * 16 + [1, 0, 0, 0])
    assert (link.RP, link.mdh, link.offset, link.flip, link.qlim) == ("R", 0, 0, False, None)
    assert_array_equal(link.link(0), np.eye(4))


@pytest.mark.parametrize("row", [[0.1, 0.2, 0.3, 0.4], [0.1, 0.2, 0.3, 0.4, 1]])
def test_four_or_five_numbers_are_a_dh_row(row):
    link = sb.Link(row)
    assert (link.alpha, link.A, link.theta, link.D) == (0.1, 0.2, 0.3, 0.4)
    assert (link.sigma, link.RP) == ((1, "P") if len(row) == 5 else (0, "R"))
    assert_array_equal(link.dyn[5:], sb.Link().dyn[5:])


def test_a_shorter_dyn_row_takes_defaults_for_what_it_lacks():
    link = sb.Link(DYN_ROW, "stand")
    assert (link.m, link.Jm, link.G, link.B, link.Tc) == (9.29, 0.953, 1, 0, (0, 0))
    assert_array_equal(link.r, [0, 0.0175, -0.1105])
    assert_array_equal(link.I, np.diag([0.276, 0.255, 0.071]))
    assert_array_equal(link.dyn, [*DYN_ROW, 0, 0, 0])
    assert sb.Link(DYN_ROW[:6]).G == 1


@st.composite
def rows(draw):
    """DH and DYN rows of every length."""
    dh = st.tuples(FIGURES, FIGURES, FIGURES, FIGURES, st.sampled_from([0.0, 1.0]))
    body = st.tuples(SIZES, *[FIGURES] * 9)
    motor = st.tuples(SIZES, FIGURES, SIZES, SIZES, SIZES.map(lambda v: -v))
    row = [*draw(dh), *draw(body), *draw(motor)]
    return row[: draw(st.integers(4, 20))]


@given(rows(), st.sampled_from(["standard", "modified"]))
@settings(deadline=None, max_examples=50)
def test_rows_come_back_as_they_were(row, convention):
    link = sb.Link(row, convention)
    assert_array_equal(link.dh[: len(row)], row[:5])
    assert_array_equal(link.dyn[: len(row)], row)
    assert_array_equal(link.dyn[len(row) :], sb.Link().dyn[len(row) :])
    again = sb.Link(link.dyn, convention)
    assert again == link
    assert pickle.loads(pickle.dumps(link)) == link == copy.deepcopy(link)


@given(rows(), st.floats(-10, 10))
@settings(deadline=None, max_examples=25)
def test_the_two_conventions_are_each_others_product_turned_round(row, q):
    """Rz Tz and Tx Rx of one set of parameters, in either order."""
    standard, modified = sb.Link(row), sb.Link(row, "mod")
    along_x = sb.Link([row[0], row[1], 0, 0]).link(0)
    along_z = sb.Link([0, 0, *row[2:5]]).link(q)
    scale = 1 + np.abs(row[:4]).max()
    assert_allclose(standard.link(q), along_z @ along_x, atol=1e-12 * scale)
    assert_allclose(modified.link(q), along_x @ along_z, atol=1e-12 * scale)


def test_a_copy_shares_nothing_with_its_original():
    first = sb.Link(DYN_ROW, "mod", name="waist", qlim=[-1, 1])
    second = sb.Link(first)
    assert second == first
    assert (second.mdh, second.name, second.qlim) == (1, "waist", (-1, 1))
    alias = first
    alias.A, alias.I = 7, np.eye(3)
    assert (first.A, second.A) == (7, 0)
    assert second != first
    assert_array_equal(second.I, np.diag([0.276, 0.255, 0.071]))


@pytest.mark.parametrize(
    ("text", "mdh"),
    [("sta", 0), ("stand", 0), ("standard", 0), ("mod", 1), ("modif", 1), ("modified", 1)],
)
def test_a_convention_goes_by_its_first_letters(text, mdh):
    assert sb.Link([0, 0.5, 0, 0], text).mdh == mdh


@pytest.mark.parametrize(
    "text", ["std", "s", "m", "st", "mo", "", "mdh", "standards", "Standard", 1, True]
)
def test_other_names_of_conventions_are_refused(text):
    with pytest.raises(RobotError, match="no convention"):
        sb.Link([0, 0.5, 0, 0, 0], text)


# --- attributes ---------------------------------------------------------------------------


def test_attributes_can_be_assigned():
    link = sb.Link()
    link.alpha, link.A, link.theta, link.D, link.sigma, link.mdh = 1, 2, 3, 4, 1, 1
    link.m, link.r, link.G, link.Jm, link.B = 5, [1, 2, 3], -60, 1e-4, 1e-3
    link.offset, link.flip, link.qlim, link.name = 0.5, True, [-1, 2], "elbow"
    link.Tc = 5
    assert_array_equal(link.dh, [1, 2, 3, 4, 1])
    assert link.Tc == (5, -5)
    link.Tc = [0.4, -0.3]
    assert link.Tc == (0.4, -0.3)
    assert (link.RP, link.mdh, link.qlim) == ("P", 1, (-1, 2))
    link.qlim = None
    assert link.qlim is None


def test_a_row_that_is_assigned_replaces_what_it_describes_and_nothing_else():
    link = sb.Link(DYN_ROW, "mod", name="waist", qlim=[-1, 1], offset=0.5)
    link.dh = [0.1, 0.2, 0.3, 0.4]
    assert_array_equal(link.dyn, [0.1, 0.2, 0.3, 0.4, 0, *DYN_ROW[5:], 0, 0, 0])
    link.dyn = [0.5, 0.6, 0.7, 0.8, 1, 3]  # what a shorter row lacks takes its default
    assert link == sb.Link(
        [0.5, 0.6, 0.7, 0.8, 1, 3], "mod", name="waist", qlim=[-1, 1], offset=0.5
    )
    other = sb.Link()
    other.dyn = sb.Link(DYN_ROW).dyn
    assert other == sb.Link(DYN_ROW)


def test_an_inertia_is_a_matrix_or_six_numbers():
    link = sb.Link(I=[1, 2, 3, 0.1, 0.2, 0.3])
    assert_array_equal(link.I, [[1, 0.1, 0.3], [0.1, 2, 0.2], [0.3, 0.2, 3]])
    link.I = np.diag([1, 2, 3])
    assert_array_equal(link.dyn[9:15], [1, 2, 3, 0, 0, 0])


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("RP", 1, "RP of a link is read only\n  assign sigma"),
        ("convention", "modified", "convention of a link is read only\n  assign mdh"),
        ("dh", [0, 0, 0], "dh has 3 numbers; it takes 4 to 5 (DH)"),
        ("dh", [0] * 6, "dh has 6 numbers"),
        ("dh", ["a"] * 5, "dh must be numbers"),
        ("dyn", [0] * 5, "dyn has 5 numbers; it takes 6 to 20 (DYN)"),
        ("dyn", [0] * 21, "dyn has 21 numbers"),
        ("dyn", [[0] * 20], "dyn has shape (1, 20)"),
        ("dyn", [7, 7, 7, 7, 0, -1], "m is -1; it must not be negative"),
        ("alhpa", 1, "no attribute 'alhpa'\n  did you mean 'alpha'"),
        ("alpha", [1, 2], "alpha must be one number"),
        ("A", "0.4", "A must be numbers, not '0.4'"),
        ("theta", math.nan, "theta is nan; its numbers must be finite"),
        ("D", math.inf, "must be finite"),
        ("sigma", None, "sigma must be numbers"),
        ("mdh", 2, "mdh is 2; it must be 0 (standard) or 1 (modified)"),
        ("flip", 3, "flip is 3; it must be true or false"),
        ("m", -1, "m is -1; it must not be negative"),
        ("r", [1, 2], "r has shape (2,); it must be (3,)"),
        ("I", [1, 2, 3, 4], "I has shape (4,); it must be (3, 3), or (6,)"),
        ("I", np.ones((3, 2)), "I has shape (3, 2)"),
        ("I", [[1, 2, 0], [0, 1, 0], [0, 0, 1]], "I is not symmetric"),
        ("Jm", -1e-4, "Jm is -0.0001; it must not be negative"),
        ("B", -1, "B is -1; it must not be negative"),
        ("Tc", [-1, -1], "Tc is [-1, -1]; the first, which brakes"),
        ("Tc", [1, 1], "and the second not positive"),
        ("Tc", -1, "must not be negative"),
        ("Tc", [1, -1, 0], "Tc has shape (3,); it must be one number or a pair"),
        ("qlim", [1, -1], "qlim is [1, -1]; the lower limit is above the upper one"),
        ("qlim", [1, 2, 3], "qlim must be a pair [lowest, highest]"),
        ("qlim", [0, math.nan], "qlim must be a pair"),
        ("qlim", "12", "qlim must be a pair"),
        ("offset", [[1], [2, 3]], "offset must be numbers"),
        ("name", 3, "name must be a text"),
    ],
)
def test_a_wrong_assignment_is_refused_and_changes_nothing(name, value, text):
    link = sb.Link(DYN_ROW)
    with pytest.raises(RobotError) as error:
        setattr(link, name, value)
    assert text in str(error.value)
    assert link == sb.Link(DYN_ROW)


def test_what_python_expects_of_an_attribute_holds():
    link = sb.Link()
    with pytest.raises(AttributeError):
        link.RP = "P"
    with pytest.raises(AttributeError):
        del link.m
    assert not hasattr(link, "alhpa")
    with pytest.raises(ValueError, match="read-only"):
        link.I[0, 0] = 1
    with pytest.raises(TypeError, match="unhashable"):
        hash(link)


@pytest.mark.parametrize("row", [[1, 2, 3], [0] * 21, [[0, 0, 0, 0]], 3, []])
def test_a_row_of_another_length_is_refused(row):
    with pytest.raises(RobotError, match="4 to 5"):
        sb.Link(row)


def test_other_wrong_beginnings_are_refused():
    with pytest.raises(RobotError, match="a row of a link must be numbers"):
        sb.Link(["a", "b", "c", "d"])
    with pytest.raises(RobotError, match="no attribute 'mass'"):
        sb.Link(mass=3)
    with pytest.raises(RobotError, match="a copy keeps its convention"):
        sb.Link(sb.Link(), "modified")


def test_limits_tell_the_side_on_which_they_are_passed():
    link = sb.Link(qlim=[-1, 2])
    assert [link.islimit(q) for q in (-1.1, -1, 0, 2, 2.1)] == [-1, 0, 0, 0, 1]
    assert sb.Link().islimit(1e9) == 0


# --- as text ------------------------------------------------------------------------------


def test_a_link_as_text_is_one_line_and_show_is_all_of_it():
    link = sb.Link(DYN_ROW, "mod", name="waist", qlim=[-1, 1])
    assert str(link) == "waist: alpha=-1.5708 A=0 theta=0 D=0.412 R (modified)"
    assert repr(link) == f"<Link {link}>"
    shown = link.show()
    for name in (
        *("alpha", "A", "theta", "D", "sigma", "RP", "mdh", "I", "m", "r", "G", "Jm", "B", "Tc"),
        *("qlim", "offset", "flip", "name"),
    ):
        assert any(line.split()[0] == name for line in shown.splitlines()), name
    for figure in ("9.29", "0.0175", "-0.1105", "0.276", "0.953", "(-1.0, 1.0)", "waist"):
        assert figure in shown
