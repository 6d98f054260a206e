"""DATA: signals by time out of files, recorded by runs of ours or by other programs."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest
from mcap_writing import write_json
from scipy.io import savemat

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.results import csv_columns, recordings

T = np.array([0.0, 0.5, 0.75, 2.0])
U = np.array([1.0, 3.0, -1.0, 4.0])
V = np.column_stack([U, 2 * U])
CSV = "t,u,q[0],q[1],note\n" + "".join(
    f"{t},{u},{a},{b},x\n" for t, u, (a, b) in zip(T, U, V, strict=True)
)


def written(folder, kind):
    path = folder / f"data{kind}"
    if kind == ".csv":
        path.write_text(CSV)
    elif kind == ".npz":
        np.savez_compressed(path, t=T, u=U, q=V, note=np.array(["x"]))
    else:
        savemat(path, {"t": T, "u": U, "q": V, "note": "x"}, do_compression=True)
    return path


@pytest.fixture
def data(bdsim_runtime):
    """data(path, ...): t and each output of a DATA block on both engines, which agree."""

    def run(path, *args, end=3.0, **options):
        bd = bdsim_runtime.blockdiagram(name="data")
        block = bd.DATA(path, *args, name="data", **options)
        names = [f"data.{port.name}" for port in block.out_ports]
        names = names if len(names) > 1 else ["data"]
        runs = [
            sb.simulate(bd, T=end, engine=engine, every=0.125, log=names)
            for engine in ("interpreter", "native")
        ]
        for name in names:
            np.testing.assert_allclose(runs[0][name], runs[1][name], rtol=1e-14)
        return runs[1].t, *(runs[1][name] for name in names)

    return run


def held(t):
    return U[np.maximum(np.searchsorted(T, t, side="right") - 1, 0)]


@pytest.mark.parametrize("kind", [".csv", ".npz", ".mat"])
def test_signals_of_each_kind_of_file_are_lines_between_samples(data, tmp_path, kind):
    t, u, q = data(written(tmp_path, kind), ["u", "q"])
    np.testing.assert_allclose(u, np.interp(t, T, U), rtol=1e-14)
    np.testing.assert_allclose(q, np.outer(np.interp(t, T, U), [1, 2]), rtol=1e-14)


def test_signals_of_a_log_have_times_of_their_own(data, tmp_path):
    """Each is interpolated, and held outside, by the times of its topic."""
    slow, fast = np.array([0.25, 1.0, 2.0]), np.linspace(0, 1.5, 7)
    path = write_json(
        tmp_path / "log.mcap",
        _fast=(fast, [{"x": [v, 2 * v]} for v in fast**2]),
        _slow=(slow, [{"y": v} for v in 3 * slow]),
    )
    names = {"x": "/fast.x", "y": "/slow.y"}
    t, x, y = data(path, names)
    np.testing.assert_allclose(x[:, 0], np.interp(t, fast, fast**2), rtol=1e-13)
    np.testing.assert_allclose(y, np.interp(t, slow, 3 * slow), rtol=1e-13)
    t, x, y = data(path, names, interpolation="previous", outside="zero")
    rows = np.searchsorted(fast, t, side="right") - 1
    np.testing.assert_array_equal(x[:, 1], np.where(t <= 1.5, 2 * fast[rows] ** 2, 0.0))
    rows = np.maximum(np.searchsorted(slow, t, side="right") - 1, 0)
    np.testing.assert_array_equal(y, np.where((t >= 0.25) & (t <= 2), 3 * slow[rows], 0.0))


def test_steps_end_at_the_samples_of_each_signal_of_a_log(bdsim_runtime, tmp_path):
    slow, fast = np.array([0.0, 0.75, 2.0]), np.linspace(0, 2, 9)
    u, v = slow**2, np.cos(9 * fast)
    path = write_json(
        tmp_path / "log.mcap",
        _u=(slow, [{"u": one} for one in u]),
        _v=(fast, [{"v": one} for one in v]),
    )
    bd = bdsim_runtime.blockdiagram(name="data")
    both = bd.DATA(path, {"u": "/u.u", "v": "/v.v"})
    bd.connect(both[0], bd.INTEGRATOR(name="iu"))
    bd.connect(both[1], bd.INTEGRATOR(name="iv"))
    run = sb.simulate(bd, T=2.0, rtol=1e-3)
    assert run["iu"][-1] == pytest.approx(np.trapezoid(u, slow), rel=1e-12)
    assert run["iv"][-1] == pytest.approx(np.trapezoid(v, fast), rel=1e-12)


def test_samples_may_be_held_and_moved_in_time(data, tmp_path):
    path = written(tmp_path, ".csv")
    t, u = data(path, "u", interpolation="previous")
    np.testing.assert_array_equal(u, held(t))
    t, u = data(path, "u", interpolation="previous", offset=0.25, scale=0.5)
    np.testing.assert_array_equal(u, held((t - 0.25) / 0.5))


def test_outside_a_recording_its_ends_hold_or_zero_or_nothing(data, tmp_path):
    path = written(tmp_path, ".csv")
    t, u = data(path, "u", offset=0.3)
    np.testing.assert_allclose(u, np.interp(t - 0.3, T, U), rtol=1e-13)
    t, u = data(path, "u", offset=0.3, outside="zero")
    inside = (t >= 0.3) & (t <= 2.3)
    np.testing.assert_allclose(u, np.where(inside, np.interp(t - 0.3, T, U), 0.0), rtol=1e-13)
    data(path, "u", outside="refuse", end=2.0)
    with pytest.raises(sb.RunError, match="not finite"):
        data(path, "u", outside="refuse", end=2.5)


@pytest.mark.parametrize("interpolation", ["linear", "previous"])
@pytest.mark.parametrize("even", [True, False])
def test_a_long_recording_gives_the_same_as_a_short_one(data, tmp_path, interpolation, even):
    times = np.linspace(0, 2, 1001) ** (1 if even else 1.5)
    values = np.sin(3 * times)
    np.savez(tmp_path / "long.npz", t=times, u=values)
    t, u = data(tmp_path / "long.npz", "u", interpolation=interpolation, end=2.0)
    want = np.interp(t, times, values)
    if interpolation == "previous":
        want = values[np.searchsorted(times, t, side="right") - 1]
    np.testing.assert_allclose(u, want, rtol=1e-11, atol=1e-12)


def test_an_integral_over_samples_is_exact_as_steps_end_at_them(bdsim_runtime, tmp_path):
    path = written(tmp_path, ".csv")
    for interpolation, area in (("linear", np.trapezoid(U, T)), ("previous", np.diff(T) @ U[:-1])):
        bd = bdsim_runtime.blockdiagram(name="data")
        bd.connect(bd.DATA(path, "u", interpolation=interpolation), bd.INTEGRATOR(name="sum"))
        final = sb.simulate(bd, T=2.0, rtol=1e-3)["sum"][-1]
        assert final == pytest.approx(area, rel=1e-12)


RECORDED = """
blocks:
  time: {type: TIME}
  u: {type: WAVEFORM, wave: sine, freq: 0.5}
  both: {type: MUX, nin: 2}
  turn: {type: GAIN, K: [[0.0, 1.0], [-1.0, 0.0]], premul: true}
  x: {type: INTEGRATOR, x0: [1, 0]}
wires:
  - time -> both.0
  - u -> both.1
  - x -> turn
  - turn -> x
run: {T: 2, every: 0.01, log: [both, u]}
"""


@pytest.mark.parametrize("kind", [".csv", ".npz", ".mat"])
def test_what_a_run_saves_is_replayed(data, tmp_path, kind):
    (tmp_path / "run.yaml").write_text(RECORDED)
    results = sb.simulate(tmp_path / "run.yaml")
    path = results.save(tmp_path / f"run{kind}")
    named = {"both": "both", "u": "u", "state": "states.x"}
    t, both, u, state = data(path, named, end=2.0)
    at = np.rint(t / 0.01).astype(int)
    whole = np.isclose(t, results.t[at])
    assert whole.sum() == 9
    for got, want in ((both, results["both"]), (u, results["u"]), (state, results["x"])):
        np.testing.assert_allclose(got[whole], want[at][whole], rtol=1e-12, atol=1e-13)


@pytest.fixture
def load_with(bdsim_runtime, tmp_path):
    """load_with(name, text or bytes, signals): the diagram whose DATA reads such a file."""

    def load(name, content, signals="[u]"):
        content = content if isinstance(content, bytes) else content.encode()
        (tmp_path / name).write_bytes(content)
        path = tmp_path / "d.yaml"
        path.write_text(f"blocks:\n  data: {{type: DATA, file: {name}, signals: {signals}}}\n")
        return sb.load(path)

    return load


def packed(**arrays):
    file = BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def matlab(**arrays):
    file = BytesIO()
    savemat(file, arrays, do_compression=True)
    return file.getvalue()


WRONG = {
    r"d\.yaml:2:9: .*data\.csv:3:3: column 'u' needs finite numbers, not 'abc'": (
        "data.csv",
        "t,u\n0,1\n1,abc\n",
    ),
    r"data\.csv:3:1: column 't' needs finite": ("data.csv", "t,u\n0,1\nnan,2\n"),
    r"data\.csv:4:3: the row has 1 cells, the header 2": ("data.csv", "t,u\n0,1\n1,2\n3\n"),
    r"data\.csv:4: t does not rise: 0.5 follows 1": ("data.csv", "t,u\n0,1\n1,2\n0.5,3\n"),
    r"data.csv:1: no rows of finite numbers": ("data.csv", "t,u\n"),
    r"has no row of names": ("data.csv", ""),
    r"has no signal 't'": ("data.csv", "time,u\n0,1\n1,2\n"),
    r"data\.csv:3: unexpected end of data": ("data.csv", 't,u\n0,1\n1,"2\n'),
    r"data\.csv:4: column 'u' needs finite": ("data.csv", 't,u,note\n0,1,a\n\n1,x,"b, c"\n'),
    r"did you mean 'up'": ("data.csv", "t,up\n0,1\n1,2\n"),
    r"data\.csv:1: the columns of u are not all there": ("data.csv", "t,u[0],u[2]\n0,1,2\n1,2,3\n"),
    r"data\.csv:1: the column 'u' is there twice": ("data.csv", "t,u,u\n0,1,2\n1,2,3\n"),
    r"cannot read .*data\.csv": ("data.csv", b"t,u\n\xff\xfe,1\n"),
    r"one sample": ("data.csv", "t,u\n0,1\n"),
    r"\.npz: damaged": ("data.npz", b"PK\x03\x04 and no more"),
    r"u has 3 samples, t has 2": ("data.npz", packed(t=[0, 1], u=[1, 2, 3])),
    r"sample 1 of u, at 1 s, is not finite": ("data.npz", packed(t=[0, 1], u=[1, np.nan])),
    r"entry 'u' holds <U1, not plain numbers": ("data.npz", packed(t=[0, 1], u=["a", "b"])),
    r"has no signal 'u'": ("data.npz", packed(t=[0, 1], x=[1, 2])),
    r"\.mat: damaged": ("data.mat", b"MATLAB 5.0 MAT-file" + bytes(200)),
    r"u holds no real numbers": ("data.mat", matlab(t=[0, 1], u=[1, 1j])),
    r"did you mean 'up'\?": ("data.mat", matlab(t=[0, 1], up=[1, 2])),
    r"no signals can be read from": ("data.txt", "t,u\n0,1\n1,2\n"),
}


@pytest.mark.parametrize("problem", WRONG)
def test_a_file_without_these_signals_is_refused_with_its_place(load_with, problem):
    with pytest.raises(InputError, match=problem) as error:
        load_with(*WRONG[problem])
    assert error.value.faults[0].place.line == 2


NAMES = {
    "two of them end in the same name": "[a.q, b.q]",
    "no output can be called 'q\\[0\\]'": "['q[0]']",
    "no output can be called 'name'": "[plant.name]",
    "signals are names": "[]",
    "signals are names, not": "{u: 3}",
    "signals are names, not 3": "3",
}


@pytest.mark.parametrize("problem", NAMES)
def test_outputs_need_names_of_their_own(load_with, problem):
    with pytest.raises(InputError, match=problem):
        load_with("data.csv", CSV, NAMES[problem])


def test_pickles_are_not_read(load_with):
    file = BytesIO()
    np.savez(file, t=np.array([0.0, 1.0]), u=np.array([print, print], dtype=object))
    with pytest.raises(InputError, match="entry 'u' holds object"):
        load_with("data.npz", file.getvalue())


def test_files_that_unpack_to_too_much_are_refused(load_with, monkeypatch):
    monkeypatch.setattr(recordings, "MOST_UNPACKED", 100_000)
    monkeypatch.setattr(csv_columns, "MOST_TEXT", 1_000)
    zeros = np.zeros(50_000)
    with pytest.raises(InputError, match="unpacks to"):
        load_with("data.mat", matlab(t=[0, 1], u=zeros))
    file = BytesIO()
    np.savez_compressed(file, t=[0, 1], u=zeros)
    with pytest.raises(InputError, match="unpacks to"):
        load_with("data.npz", file.getvalue())
    with pytest.raises(InputError, match="more than 1,000 bytes"):
        load_with("data.csv", "t,u\n" + "0,1\n" * 500)


def test_a_recording_lies_in_the_project(bdsim_runtime, tmp_path):
    (tmp_path / "data.csv").write_text(CSV)
    (tmp_path / "project").mkdir()
    path = tmp_path / "project" / "d.yaml"
    path.write_text("blocks:\n  data: {type: DATA, file: ../data.csv, signals: [u]}\n")
    with pytest.raises(InputError, match="leaves the project"):
        sb.load(path)
