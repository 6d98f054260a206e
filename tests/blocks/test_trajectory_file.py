"""References from a CSV file: its samples, what goes between them, and files that are wrong."""

from __future__ import annotations

import numpy as np
import pytest
from mcap_writing import write_json
from output_cases import sampled
from scipy.interpolate import CubicSpline

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.diagram.build.registry import find_type

T = np.array([0.0, 0.3, 0.5, 1.1, 1.6])
Q = np.array([[0.0, 1.0], [0.4, 0.7], [0.5, 1.2], [-0.3, 1.0], [0.1, 0.0]])
TEXT = "# two joints\nt,shoulder,elbow\n" + "".join(
    f"{t}, {a}, {b}\n" for t, (a, b) in zip(T, Q, strict=True)
)


@pytest.fixture
def block_of(tmp_path):
    """block_of(text, ...): the block of a file with this text."""

    def build(text=TEXT, **options):
        file = tmp_path / "joints.csv"
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        bd = sb.new_diagram("file")
        return find_type("TRAJECTORY_FILE").construct(bd, "file", {"path": file, **options})

    return build


@pytest.mark.parametrize("method", ["clamped", "natural"])
def test_the_spline_is_scipys(block_of, method):
    block, spline = block_of(method=method), CubicSpline(T, Q, bc_type=method)
    t = np.linspace(0, 1.6, 201)[:-1]
    for order, values in enumerate(sampled(block, t)):
        want = spline(t, order)
        np.testing.assert_allclose(values, want, rtol=0, atol=1e-12 * np.abs(want).max())


def test_lines_are_numpys_and_their_rates_the_slopes(block_of):
    block = block_of(method="linear")
    t = np.linspace(-0.2, 1.8, 100)
    q, u, a = sampled(block, t)
    want = np.stack([np.interp(t, T, column) for column in Q.T], axis=1)
    np.testing.assert_allclose(q, want, atol=1e-15)
    np.testing.assert_allclose(block.output(0.4, [], None)[1], [0.5, 2.5])
    assert not a.any()
    assert not u[(t < 0) | (t > 1.6)].any()


def test_before_and_after_its_samples_a_file_is_held(block_of):
    block = block_of(T=2.0)
    for t, want in ((1.9, Q[0]), (2.3, Q[1]), (9.0, Q[-1])):
        q, u, _ = block.output(t, [], None)
        np.testing.assert_allclose(q, want, atol=1e-14)
        if t != 2.3:
            assert not u.any()


def test_columns_are_chosen_by_name_and_order(block_of):
    text = "elbow,time,shoulder\n1,0,2\n3,1,4\n"
    block = block_of(text, time="time", columns=["shoulder", "elbow"])
    np.testing.assert_allclose(block.output(1.0, [], None)[0], [4, 3])
    np.testing.assert_allclose(block_of(text, time="time").output(1.0, [], None)[0], [3, 4])
    one = block_of(text, time="time", columns="elbow")
    assert one.output(1.0, [], None)[0].shape == (1,)


def test_a_saved_run_is_a_reference(tmp_path):
    bd = sb.new_diagram("run")
    find_type("QUINTIC").construct(bd, "way", {"q0": [0, 1], "qf": [1, 3], "duration": 1})
    run = sb.simulate(bd, T=1, every=0.01, log=["way.q", "way.u"])
    run.save(tmp_path / "run.csv")
    bd = sb.new_diagram("replay")
    options = {"path": tmp_path / "run.csv", "columns": ["way.q"]}
    find_type("TRAJECTORY_FILE").construct(bd, "file", options)
    both = [sb.simulate(bd, T=1, every=0.01, engine=e) for e in ("native", "interpreter")]
    assert both[0].info["engine"] == "native"
    for port in "qua":
        one, other = (run[f"file.{port}"] for run in both)
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(both[0]["file.q"], run["way.q"], atol=1e-12)
    np.testing.assert_allclose(both[0]["file.u"], run["way.u"], atol=1e-4)  # h^3 of the spline


def test_a_log_is_a_reference(tmp_path):
    """A signal has all joints, or each has one of its own at the same times."""
    messages = [{"q": q, "name": ["shoulder", "elbow"]} for q in Q.tolist()]
    path = write_json(tmp_path / "log.mcap", _arm=(T, messages), _late=(T + 1, messages))
    kind = find_type("TRAJECTORY_FILE")
    for columns in ("/arm.q", ["/arm.q[shoulder]", "/arm.q[elbow]"]):
        block = kind.construct(sb.new_diagram("log"), "f", {"path": path, "columns": columns})
        for t, q in zip(T, Q, strict=True):
            np.testing.assert_allclose(block.output(t, [], None)[0], q, atol=1e-14)
    for columns, told in ((["/arm.q", "/late.q"], "different times"), (None, "needs a column")):
        with pytest.raises(InputError, match=told):
            kind.construct(sb.new_diagram("log"), "f", {"path": path, "columns": columns})


@pytest.mark.parametrize("method", ["clamped", "linear"])
def test_a_long_file_is_traced_and_gives_the_same(tmp_path, method):
    t = np.arange(1000) / 100
    rows = "".join(f"{s},{a},{b}\n" for s, a, b in zip(t, np.sin(t), np.cos(t), strict=True))
    (tmp_path / "long.csv").write_text("t,a,b\n" + rows)
    bd = sb.new_diagram("long")
    options = {"path": tmp_path / "long.csv", "method": method}
    find_type("TRAJECTORY_FILE").construct(bd, "file", options)
    runs = [
        sb.simulate(bd, T=11, every=0.0125, log=["file.q", "file.u", "file.a"], engine=engine)
        for engine in ("native", "interpreter")
    ]
    assert runs[0].info["engine"] == "native"
    for name in ("file.q", "file.u", "file.a"):
        np.testing.assert_allclose(runs[0][name], runs[1][name], rtol=1e-10, atol=1e-12)
    within = (runs[0].t > 0.1) & (runs[0].t < 9.9)
    s = runs[0].t[within]
    want = np.stack([np.sin(s), np.cos(s)], axis=1)
    np.testing.assert_allclose(runs[0]["file.q"][within], want, atol=2e-5)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "joints.csv has no row of names"),
        ("t,q\n0,1\n", {}, "two samples"),
        ("t\n0\n1\n", {}, "a column beside the time"),
        ("t,q\n0,1\n1, x\n", {}, "joints.csv:3:4: column 'q' needs finite numbers, not 'x'"),
        (
            "t,q\n# note\n\n0,1\n1,nan\n",
            {},
            "joints.csv:5:3: column 'q' needs finite",
        ),
        ("t,q\n0,1\n1,\n", {}, "joints.csv:3:3: column 'q' needs finite numbers, not ''"),
        ("t,q\n0,1_0\n1,2\n", {}, "joints.csv:2:3: column 'q' needs finite numbers, not '1_0'"),
        ("t,q\n0,1\n1,2,3\n", {}, "joints.csv:3:5: the row has 3 cells, the header 2"),
        ("t,q\n0,1\n1\n", {}, "joints.csv:3:3: the row has 1 cells, the header 2"),
        ("t,q,q\n0,1,2\n", {}, "joints.csv:1: the column 'q' is there twice"),
        ("t,,q\n0,1,2\n", {}, "joints.csv:1: column 2 has no name"),
        ("t,q\n0,1\n1,2\n1,3\n", {}, "joints.csv:4: t does not rise: 1 follows 1"),
        (TEXT, {"columns": ["elbw"]}, "joints.csv has no signal 'elbw'\n.*did you mean 'elbow'"),
        (TEXT, {"time": "time"}, "joints.csv has no signal 'time'"),
        (TEXT, {"method": "cubic"}, "method must be one of clamped, natural, linear, not 'cubic'"),
        (b"t,q\n0,\xff\n", {}, "cannot read .*joints.csv: .*utf-8"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_line_and_column(block_of, text, options, message):
    with pytest.raises((InputError, ValueError), match=message):
        block_of(text, **options)


def test_all_mistakes_of_a_file_are_told_at_once_up_to_twenty(block_of):
    with pytest.raises(InputError) as error:
        block_of("t,q\n0,a\nb,1\n")
    assert len(error.value.faults) == 2
    with pytest.raises(InputError) as error:
        block_of("t,q\n" + "0,a\n" * 1000)
    assert len(error.value.faults) == 20
    with pytest.raises(InputError) as error:
        block_of("t" + "".join(f",q{k}" for k in range(2000)) + "\n0" + ",x" * 2000 + "\n")
    assert len(error.value.faults) == 20
    with pytest.raises(InputError, match="column 'qqq") as error:
        block_of("t," + "q" * 200_000 + "\n0,1\n1,x\n")
    assert len(str(error.value)) < 1000


def test_a_file_outside_the_project_is_not_read(tmp_path):
    (tmp_path / "secret.csv").write_text(TEXT)
    project = tmp_path / "project"
    project.mkdir()
    (project / "spart.toml").touch()
    file = project / "diagram.yaml"
    file.write_text("blocks:\n  q: {type: TRAJECTORY_FILE, path: ../secret.csv}\n")
    with pytest.raises(InputError, match=r"diagram.yaml:2:\d+: ../secret.csv leaves the project"):
        sb.load(file)


def test_a_mistake_in_the_file_is_told_at_the_block_that_names_it(tmp_path):
    (tmp_path / "joints.csv").write_text("t,q\n0,1\n1,oops\n")
    file = tmp_path / "diagram.yaml"
    file.write_text("blocks:\n  q: {type: TRAJECTORY_FILE, path: joints.csv}\n")
    with pytest.raises(
        InputError,
        match=r"diagram.yaml:2:\d+: .*joints.csv:3:3: column 'q'",
    ):
        sb.load(file)
