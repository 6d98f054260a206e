"""A drawing shows every block and every wire of the diagram, and is a file that opens."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from lxml import etree
from matplotlib.image import imread

from spart_blocks.base.errors import InputError
from spart_blocks.block_support.ports import Port
from spart_blocks.diagram import diagram_drawing as drawing
from spart_blocks.diagram.diagram_drawing import draw
from spart_blocks.drawing.figures import figure_of
from spart_blocks.drawing.files import write
from spart_blocks.drawing.picture import Frame, Picture, Text


def texts(picture: Picture) -> list[str]:
    return [shape.text for shape in picture.shapes if isinstance(shape, Text)]


def marks(picture: Picture, kind: str) -> list[str]:
    names = [getattr(shape, "name", "") for shape in picture.shapes]
    return [name for name in names if name.startswith(kind)]


def test_every_block_and_every_wire_is_drawn_but_not_filled_in_constants(loop):
    picture = draw(loop)
    assert marks(picture, "block ") == [
        "block ref", "block err", "block K", "block größe", "block scope_<1>"
    ]  # fmt: skip
    assert marks(picture, "wire ") == [
        "wire ref[0] -> err[0]",
        "wire err[0] -> K[0]",
        "wire K[0] -> größe[0]",
        "wire größe[0] -> err[1]",
        "wire größe[0] -> scope_<1>[0]",
    ]
    shown = texts(picture)
    for name in ("classic", "ref", "STEP", "err", "SUM", "+", "−", "größe", "LTI_SISO"):
        assert name in shown
    assert "scope.1=0" not in shown
    assert len(marks(picture, "dot-")) == 1


def test_drawing_does_not_change_the_diagram(loop):
    before = [block.name for block in loop.blocklist], len(loop.wirelist)
    draw(loop)
    assert ([block.name for block in loop.blocklist], len(loop.wirelist)) == before
    loop.compile(verbose=False)


@pytest.mark.parametrize("fmt", ["svg", "png", "pdf"])
def test_the_file_opens_and_is_the_same_each_time(loop, tmp_path, fmt):
    path = tmp_path / f"a.{fmt}"
    write(draw(loop), path)
    first = path.read_bytes()
    if fmt == "svg":
        root = etree.fromstring(first)
        words = " ".join(root.itertext())
        for name in ("ref", "err", "K", "größe", "scope_<1>", "classic"):
            assert name in words
        assert len([e for e in root.iter() if (e.get("id") or "").startswith("wire ")]) == 5
    elif fmt == "png":
        assert imread(path).min() < 0.5
    else:
        assert first.startswith(b"%PDF")
    write(draw(loop), tmp_path / "b", fmt)
    assert (tmp_path / "b").read_bytes() == first
    assert sorted(p.name for p in tmp_path.iterdir()) == [path.name, "b"]


def test_texts_stay_inside_their_boxes_and_off_one_another(loop):
    loop.GAIN(1, name="a block with a rather long name")
    wide = loop.FUNCTION(lambda u, v: [u, v], nin=2, nout=2, name="f")
    wide._inport_names = ["position_of_the_end_effector", "qm"]
    wide._outport_names = ["orientation", "t"]
    figure = figure_of(draw(loop))
    figure.canvas.draw()
    axis = figure.axes[0]
    boxes = [p.get_window_extent() for p in axis.patches if (p.get_gid() or "").startswith("block")]
    extents = [t.get_window_extent() for t in axis.texts if t.get_text() != "classic"]
    for text in extents:
        inside = [b for b in boxes if b.x0 < text.x0 and text.x1 < b.x1]
        assert any(b.y0 < text.y0 and text.y1 < b.y1 for b in inside)
    for i, a in enumerate(extents):
        for b in extents[i + 1 :]:
            assert not a.overlaps(b)


def test_our_port_names_and_the_diagrams_name_are_shown(loop):
    block = loop.GAIN(1, name="ours")
    block.in_ports = (Port("qm", (3,), "rad"),)
    block.out_ports = (Port("taum", (3,), "N m"),)
    picture = draw(SimpleNamespace(bd=loop, name="spacecraft-pd"))
    assert {"spacecraft-pd", "qm", "taum"} <= set(texts(picture))


def test_each_class_of_block_has_its_look(sim):
    bd = sim.blockdiagram()
    clock = bd.clock(10, "Hz")
    made = [
        bd.STEP(1), bd.GAIN(1), bd.INTEGRATOR(), bd.ZOH(clock), bd.SCOPE(), bd.NULL(),
    ]  # fmt: skip
    looks = [drawing._box(block).look for block in made]
    assert looks == ["source", "function", "continuous", "sampled", "sink", "sink"]


def test_a_subsystem_is_a_box_with_a_double_edge(sim):
    inner = sim.blockdiagram("inner")
    inner.connect(inner.INPORT(1), inner.OUTPORT(1))
    bd = sim.blockdiagram("main")
    sub = bd.SUBSYSTEM(inner, name="sub")
    bd.connect(bd.STEP(1, name="in"), sub)
    picture = draw(bd)
    assert "sub" in texts(picture)
    assert "main" not in texts(picture)
    frames = [shape for shape in picture.shapes if isinstance(shape, Frame)]
    assert len(frames) == 3, "a box, and a box of two edges"


def test_empty_and_unwired_diagrams_can_be_drawn(sim):
    bd = sim.blockdiagram()
    assert marks(draw(bd), "block ") == []
    bd.SUM("+-", name="alone")
    bd.GAIN(1, name="図")
    assert marks(draw(bd), "block ") == ["block alone", "block 図"]


def test_a_block_wired_to_itself_can_be_drawn(sim):
    bd = sim.blockdiagram()
    gain = bd.GAIN(1, name="echo")
    bd.connect(gain, gain)
    assert marks(draw(bd), "wire ") == ["wire echo[0] -> echo[0]"]


def test_names_are_text_not_formulas(sim, tmp_path):
    bd = sim.blockdiagram()
    bd.GAIN(1, name="k")._name = "$\\alpha$ & <b>"
    write(draw(bd), tmp_path / "a.svg")
    root = etree.parse(tmp_path / "a.svg").getroot()
    assert "$\\alpha$ & <b>" in re.sub(r"\s+", " ", " ".join(root.itertext()))


@pytest.mark.parametrize(
    ("name", "fmt", "text"),
    [
        ("a.dot", None, "cannot draw a diagram as 'dot'\n  choose one of svg, png, pdf"),
        ("a.svg", "bmp", "cannot draw a diagram as 'bmp'"),
        ("none/a.svg", None, "none is missing"),
    ],
)
def test_a_file_that_cannot_be_made_is_explained(loop, tmp_path, name, fmt, text):
    with pytest.raises(InputError) as error:
        write(draw(loop), tmp_path / name, fmt)
    assert text in str(error.value)
