"""What a notebook shows of our objects: tables and drawings, and short texts otherwise."""

from __future__ import annotations

import base64
import dataclasses
import re
import sys
from html.parser import HTMLParser
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.analysis import Comparison, LinearSystem
from spart_blocks.analysis.comparison import MetricsRow
from spart_blocks.base.errors import InputError, RunError
from spart_blocks.realtime import Report
from spart_blocks.realtime.structs import BINS, CAUSES, Durations, Ended
from spart_blocks.results import FinalState, Results

EVIL = "<script>alert('&')</script>"
IMAGE = re.compile(r'src="data:image/svg\+xml;base64,([^"]+)"')


class Page(HTMLParser):
    """The tags and the texts of HTML whose elements are all closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag != "img":
            self._open.append(tag)

    def handle_endtag(self, tag):
        if tag != "img":
            assert self._open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def picture_of(text):
    """The one picture of a page, as XML."""
    (data,) = IMAGE.findall(text)
    return ElementTree.fromstring(base64.b64decode(data))


@pytest.fixture(scope="module")
def diagram(request):
    return sb.load(request.config.rootpath / "diagrams/spacecraft_pd.yaml")


def small_results(name=EVIL):
    t = np.linspace(0.0, 1.0, 5)
    signals = {name: np.stack([t, 2 * t], axis=1), "x.k": np.arange(5), "x.z": t + 1j}
    return Results(
        t, signals, {}, FinalState(1.0), diagram_name=name, units={"x.k": name},
        info={"engine": "native", "notes": name},
    )  # fmt: skip


def small_system(name=EVIL, states=2):
    names = tuple(f"{name}[{k}]" for k in range(states))
    zero = np.zeros(states)
    return LinearSystem(
        -np.eye(states), np.ones((states, 1)), np.ones((1, states)), np.zeros((1, 1)), 0.0,
        names, ("u",), ("y",), zero, np.zeros(1), np.zeros(1), zero, name,
    )  # fmt: skip


def small_comparison():
    row = MetricsRow(EVIL, EVIL, "rad", {"effort": 1.0, "peak_effort": 2.0})
    failures = {EVIL: RunError(EVIL)}
    return Comparison(EVIL, {EVIL: small_results()}, (row,), (EVIL,), failures)


def small_report():
    missed = dict.fromkeys(CAUSES, 0)
    durations = Durations(np.zeros(BINS, np.int64), 0.0)
    return Report(
        EVIL, 1000.0, "RK4", "skip", 1.0, Ended.DONE, 1.0, 1000, 0, 0, missed, durations, durations,
        durations, durations, durations, 0.01, (EVIL,),
    )  # fmt: skip


def small_robot(diagram):
    robot = diagram.robots["sc"]
    joints = (dataclasses.replace(robot.joints[0], name=EVIL), *robot.joints[1:])
    return dataclasses.replace(robot, name=EVIL, joints=joints)


@pytest.fixture(params=["results", "system", "comparison", "report", "robot"])
def shown(request, diagram):
    make = {
        "results": small_results,
        "system": small_system,
        "comparison": small_comparison,
        "report": small_report,
        "robot": lambda: small_robot(diagram),
    }
    return make[request.param]()


def test_names_are_shown_as_they_are_and_run_nothing(shown):
    page = Page(shown._repr_html_())
    assert "script" not in page.tags
    assert any(EVIL in text for text in page.texts)
    assert "table" in page.tags


def test_texts_are_a_line(shown, diagram):
    for item in (shown, diagram):
        assert "\n" not in repr(item)
        assert len(repr(item)) < 250


def test_results_show_their_signals_and_a_plot():
    text = small_results("plant.qm")._repr_html_()
    texts = Page(text).texts
    row = texts.index("plant.qm", texts.index("at the end"))
    assert texts[row : row + 5] == ["plant.qm", "2", "0", "2", "1, 2"]
    root = picture_of(text)
    assert root.tag.endswith("svg")
    assert "plant.qm" in ElementTree.tostring(root, encoding="unicode")


def test_results_without_samples_or_signals_are_shown():
    empty = Results(np.zeros(0), {}, {}, FinalState(0.0), complete=False, stopped="interrupted")
    text = empty._repr_html_()
    assert "img" not in Page(text).tags
    assert "stopped early: interrupted" in text


def test_a_system_shows_its_poles_and_large_matrices_by_their_size():
    texts = Page(small_system("arm")._repr_html_()).texts
    assert {"A", "B", "C", "D", "arm[0]", "u", "y", "-1+0j"} <= set(texts)
    large = small_system("arm", states=30)._repr_html_()
    assert "30 x 30" in large
    assert "and 6 more" in large


def test_a_robot_shows_its_links_and_joints(diagram):
    robot = diagram.robots["sc"]
    text = robot._repr_html_()
    for link, joint in zip(robot.links, robot.joints, strict=True):
        assert f"{link.id} {link.name}" in text
        assert f"{joint.id} {joint.name}" in text


def test_a_diagram_is_shown_as_its_drawing(diagram):
    assert repr(diagram) == "<diagram spacecraft-pd: 8 blocks, 14 wires; robots sc; T = 20 s>"
    root = ElementTree.fromstring(diagram._repr_svg_())
    assert "block plant" in {element.get("id") for element in root.iter()}


def test_a_large_diagram_is_shown_as_text(diagram, monkeypatch):
    monkeypatch.setattr("spart_blocks.diagram.diagram.MOST_SHOWN", 3)
    assert diagram._repr_svg_() is None


def test_show_writes_a_file(diagram, tmp_path):
    path = diagram.show(tmp_path / "diagram.svg")
    assert path == tmp_path / "diagram.svg"
    assert path.read_text() == diagram._repr_svg_()
    with pytest.raises(InputError, match="cannot draw a diagram as 'gif'"):
        diagram.show(tmp_path / "diagram.gif")


def test_show_says_where_there_is_no_window(diagram):
    with pytest.raises(InputError, match=r"no window can be opened here\n.*diagram\.svg"):
        diagram.show()


def test_show_displays_in_a_notebook(diagram, monkeypatch):
    shown = []
    python = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    display = SimpleNamespace(display=lambda data, raw: shown.append((data, raw)))
    monkeypatch.setitem(sys.modules, "IPython", python)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    assert diagram.show() is None
    assert shown == [({"image/svg+xml": diagram._repr_svg_()}, True)]
