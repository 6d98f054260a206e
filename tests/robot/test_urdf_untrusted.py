"""A URDF file is untrusted: it costs little, reads nothing else and fails in one way."""

from __future__ import annotations

import time
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from urdf_text import INERTIAL, joint, link, robot, write

from spart_blocks.base.errors import RobotError, SpartWarning
from spart_blocks.robot import Robot

ROOT = Path(__file__).parents[2]
SEEDS = [
    (ROOT / file).read_bytes()
    for file in ("models/spacecraft_3dof.urdf", "models/arm7.urdf", "models/dual_arm.urdf")
]
ODD = [
    *(b"", b"0", b"-1", b"nan", b"-inf", b"1e999", b"1e308", b"-1e300", b"1e-320", b"1e29"),
    *(b"0x10", b"1_0", b"1,5", b"\xd9\xa3", b"--1", b"1e", b"0 0", b"0 0 0", b"1 2 3 4", b"&lt;"),
    *(b"Link_0", b"fixed", b"planar", b"prismatic", b"${x}", b"\xff", b"\x00", b"'", b"9" * 500),
]


def bomb(levels: int) -> str:
    entities = ['<!ENTITY a0 "0 0 0 0 0 0 0 0 0 0">']
    entities += [f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, levels)]
    return f'<!DOCTYPE robot [{"".join(entities)}]>\n<robot name="&a{levels - 1};"/>'


@pytest.mark.parametrize(
    "text",
    [
        bomb(12),
        '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="&x;"/>',
        '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot>&x;</robot>',
        '<!DOCTYPE r [<!ENTITY % x SYSTEM "http://127.0.0.1:9/x"> %x;]><robot/>',
        '<!DOCTYPE r SYSTEM "http://127.0.0.1:9/x.dtd"><robot name="&x;"/>',
        '<?p <!-- ?><!DOCTYPE r [<!ENTITY x "y">]><robot name="&x;"/><!-- -->',
    ],
)
def test_entities_are_refused_before_anything_is_expanded(text, tmp_path):
    with pytest.raises(RobotError, match="XML entities; they are never expanded") as caught:
        Robot.from_urdf(write(tmp_path, text))
    assert "root:" not in str(caught.value)


def test_an_entity_that_nothing_declares_is_refused(tmp_path):
    with pytest.raises(RobotError, match="not well-formed XML: Entity 'x' not defined"):
        Robot.from_urdf(write(tmp_path, '<robot name="&x;"/>'))


def test_another_declared_encoding_cannot_smuggle_entities_in(tmp_path):
    smuggled = '+ADwAIQ-DOCTYPE r +AFsAPAAh-ENTITY x "y"+AD4AXQA+-<robot name="+ACY-x;"/>'
    text = f'<?xml version="1.0" encoding="utf-7"?>{smuggled}'
    with pytest.raises(RobotError, match="not well-formed XML"):
        Robot.from_urdf(write(tmp_path, text))


def test_an_external_dtd_is_not_read(tmp_path):
    secret = tmp_path / "x.dtd"
    secret.write_text('<!ATTLIST link name CDATA "leaked">')
    text = f'<!DOCTYPE robot SYSTEM "{secret.as_uri()}"><robot name="r"><link/></robot>'
    with pytest.raises(RobotError, match="a <link> has no name"):
        Robot.from_urdf(write(tmp_path, text))


def test_the_five_plain_references_of_xml_are_text(tmp_path):
    loaded = Robot.from_urdf(write(tmp_path, robot(link("a&amp;b&#65;&lt;"))))
    assert loaded.base_link.name == "a&bA<"


def test_a_file_of_100_mb_is_refused_without_reading_it(tmp_path):
    path = tmp_path / "huge.urdf"
    with path.open("wb") as file:
        file.truncate(100 * 2**20)
    tracemalloc.start()
    try:
        with pytest.raises(RobotError, match="larger than 32 MB"):
            Robot.from_urdf(path)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_deep_xml_is_refused_and_no_recursion_limit_hit(tmp_path):
    with pytest.raises(RobotError):
        Robot.from_urdf(write(tmp_path, "<robot>" + "<link>" * 100_000))


def chain(n: int) -> str:
    links = [link(f"link{i}") for i in range(n + 1)]
    joints = [joint(f"joint{i}", f"link{i - 1}", f"link{i}") for i in range(1, n + 1)]
    return robot(*links, *joints)


def test_a_chain_of_3000_links_loads_in_order(tmp_path):
    loaded = Robot.from_urdf(write(tmp_path, chain(3000)), strict=True)
    assert loaded.parents == tuple(range(3000))
    assert loaded.active_joints[-1] == "joint3000"


def test_more_links_than_any_robot_has_are_refused_before_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr("spart_blocks.robot.urdf.MOST_ELEMENTS", 20)
    assert len(Robot.from_urdf(write(tmp_path, chain(19))).links) == 19
    with pytest.raises(RobotError, match=r":\d+: the robot has 21 links; the most is 20"):
        Robot.from_urdf(write(tmp_path, chain(20)))


def test_loading_time_grows_with_the_links_and_not_their_square(tmp_path):
    def seconds(n: int) -> float:
        """Of processor time, whatever else the machine does."""
        path = write(tmp_path, chain(n))
        start = time.process_time()
        Robot.from_urdf(path)
        return time.process_time() - start

    seconds(100)
    small, large = (min(seconds(n) for _ in range(3)) for n in (500, 4000))
    assert large < 24 * small  # 8 if linear, 64 if quadratic


def test_a_loop_of_3000_links_is_refused(tmp_path):
    text = chain(3000).replace("</robot>", joint("close", "link3000", "link0") + "</robot>")
    with pytest.raises(RobotError, match="the joints form a loop"):
        Robot.from_urdf(write(tmp_path, text))


def spoil(data: bytes, kind: str, at: float, length: int, odd: bytes) -> bytes:
    """Delete, double, replace, cut or re-value a span of a file."""
    start = int(at * len(data))
    end = min(start + length, len(data))
    if kind == "delete":
        return data[:start] + data[end:]
    if kind == "double":
        return data[:end] + data[start:end] + data[end:]
    if kind == "replace":
        return data[:start] + odd + data[end:]
    if kind == "cut":
        return data[:start]
    opening = data.find(b'="', start)
    closing = data.find(b'"', opening + 2)
    if opening < 0 or closing < 0:
        return data
    return data[: opening + 2] + odd + data[closing:]


SPOILING = st.tuples(
    st.sampled_from(["delete", "double", "replace", "cut", "value", "value", "value"]),
    st.floats(0, 1),
    st.integers(1, 200),
    st.sampled_from(ODD),
)


@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.sampled_from(SEEDS), st.lists(SPOILING, min_size=1, max_size=4), st.booleans())
def test_a_spoilt_file_loads_or_raises_robot_error_and_nothing_else(
    tmp_path, seed, spoilings, strict
):
    for spoiling in spoilings:
        seed = spoil(seed, *spoiling)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpartWarning)
        try:
            loaded = Robot.from_urdf(write(tmp_path, seed), base="floating", strict=strict)
        except RobotError:
            return
    frames = [body.T for body in (loaded.base_link, *loaded.links, *loaded.joints)]
    assert np.isfinite(frames).all()


def test_values_at_the_edge_of_the_range_do_not_overflow(tmp_path):
    origin = '<origin xyz="1e30 -1e30 1e30" rpy="1e30 1 -1e30"/><axis xyz="1e30 1 0"/>'
    big = INERTIAL.replace('"1"', '"1e30"')
    links = [link("l0", big)] + [
        link(f"l{i}", big.replace("<mass", origin + "<mass")) for i in (1, 2)
    ]
    joints = [joint(f"j{i}", f"l{i - 1}", f"l{i}", extra=origin) for i in (1, 2)]
    with pytest.warns(SpartWarning):
        loaded = Robot.from_urdf(write(tmp_path, robot(*links, *joints)))
    assert np.isfinite([joint.T for joint in loaded.joints]).all()
