"""A picture is the same shapes in each of its files, in one order."""

from __future__ import annotations

from lxml import etree

from spart_blocks.drawing.figures import figure_of
from spart_blocks.drawing.picture import POINTS, Area, Dot, Frame, Line, Picture, Text
from spart_blocks.drawing.svg import svg_of

SHAPES = (
    Line([(0, 0), (4, 0), (4, 2)], dashes=(4, 2), width=2.0, name='a "wire" <1>'),
    Frame(1, 1, 8, 6, "#EAF1FB", "#4472B0", name="block b"),
    Area([(0, 0), (1, 1), (0, 1)]),
    Text(5, 4, "a < b & $c$", 9.0, bold=True),
    Dot(4, 2, 0.3, name="dot"),
)
PICTURE = Picture(10, 8, SHAPES, top=5)
KINDS = ["polyline", "rect", "polygon", "text", "circle"]


def test_svg_has_an_element_for_each_shape_in_their_order():
    root = etree.fromstring(svg_of(PICTURE))
    paper, *elements = root
    assert [etree.QName(one).localname for one in elements] == KINDS
    assert [one.get("id") for one in elements] == ['a "wire" <1>', "block b", None, None, "dot"]
    assert elements[3].text == "a < b & $c$"
    assert elements[0].get("stroke-dasharray") == "8 4", "in points, of a line of 2"
    assert float(elements[1].get("width")) == 8 * POINTS
    left, top, width, height = map(float, root.get("viewBox").split())
    assert (left, top) == (-3 * POINTS, -5 * POINTS)
    assert (width, height) == (16 * POINTS, 16 * POINTS)
    assert len(paper) == 0
    assert len(etree.fromstring(svg_of(PICTURE, paper=""))) == len(SHAPES)


def test_a_figure_has_an_artist_for_each_shape_in_their_order():
    figure = figure_of(PICTURE)
    axis = figure.axes[0]
    drawn = [one for one in axis.get_children() if one in axis._children]
    kinds = [type(one).__name__ for one in drawn]
    assert kinds == ["Line2D", "FancyBboxPatch", "Polygon", "Text", "Circle"]
    assert [one.get_gid() for one in drawn] == ['a "wire" <1>', "block b", None, None, "dot"]
    assert len({one.get_zorder() for one in drawn}) == 1
    assert tuple(72 * figure.get_size_inches()) == (16 * POINTS, 16 * POINTS)
