"""Link blocks that take their values from a file."""

from __future__ import annotations

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import DiagramError

ROWS = "t, q[0], q[1], flag, spare\n0.5, 1, 2, 3, x\n1.0, 4, 5, 6, y\n2.5, 7, 8, 9, z\n"


def recorded(tmp_path, rows=ROWS):
    (tmp_path / "run.csv").write_text(rows)
    path = tmp_path / "d.yaml"
    path.write_text("""
blocks:
  sensors: {type: UDP_IN, port: 5005, frame: {fields: {q: 2 f64, flag: u8}}, recorded: run.csv}
  sum: {type: INTEGRATOR, x0: [0, 0]}
wires: [sensors.q -> sum]
run: {T: 3, log: [sensors.q, sensors.flag], every: 0.125}
""")
    return path


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_each_row_of_a_recording_is_held_until_the_next(tmp_path, engine):
    results = sb.simulate(recorded(tmp_path), engine=engine)
    row = np.select([results.t >= 2.5, results.t >= 1.0], [2, 1], 0)
    np.testing.assert_array_equal(results["sensors.flag"], np.array([3, 6, 9])[row])
    np.testing.assert_array_equal(results["sensors.q"][:, 0], np.array([1, 4, 7])[row])
    # 1 until 1 s, 4 until 2.5 s, 7 until 3 s: the integral, exact as steps end at the rows.
    assert results["sum"][-1][0] == pytest.approx(1 + 4 * 1.5 + 7 * 0.5, rel=1e-12)


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_a_long_recording_is_held_row_by_row_too(tmp_path, engine):
    lines = [f"{k / 100}, {k}, {-k}, 0" for k in range(300)]
    path = recorded(tmp_path, "\n".join(["t,q[0],q[1],flag", *lines]))
    results = sb.simulate(path, engine=engine)
    np.testing.assert_allclose(
        results["sensors.q"][:, 0], np.minimum(np.floor(results.t * 100 + 1e-9), 299), rtol=1e-14
    )


WRONG_RECORDINGS = {
    "no column 'flag'": "t,q[0],q[1]\n0,1,2\n",
    "rows of finite numbers": "t,q[0],q[1],flag\n",
    "finite numbers": "t,q[0],q[1],flag\n0,1,nan,3\n",
    "run.csv:3: t does not rise": "t,q[0],q[1],flag\n0,1,2,3\n0,1,2,3\n",
    "run.csv:3:7: the row has 3 cells, the header 4": "t,q[0],q[1],flag\n0,1,2,3\n1,1,2\n",
}


@pytest.mark.parametrize("problem", WRONG_RECORDINGS)
def test_a_recording_that_does_not_fit_is_refused_where_it_is_named(tmp_path, problem):
    path = recorded(tmp_path, WRONG_RECORDINGS[problem])
    with pytest.raises(DiagramError, match=problem) as error:
        sb.load(path)
    assert error.value.faults[0].place.line == 3


@pytest.mark.parametrize("path", ["/etc/passwd", "../outside.csv"])
def test_a_recording_lies_in_the_project(tmp_path, path):
    (tmp_path / "outside.csv").write_text(ROWS)
    (tmp_path / "project").mkdir()
    file = recorded(tmp_path / "project")
    file.write_text(file.read_text().replace("run.csv", path))
    with pytest.raises(DiagramError, match="leaves the project"):
        sb.load(file)


def test_a_recording_is_among_the_diagram_s_files(tmp_path):
    diagram = sb.load(recorded(tmp_path))
    assert [file.name for file in diagram.files] == ["run.csv"]
