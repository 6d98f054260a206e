"""Results and recordings whose headers, sizes and descriptions lie are refused, at little cost."""

from __future__ import annotations

import io
import json
import struct
import zipfile

import numpy as np
import pytest
from scipy.io import savemat

from spart_blocks.base.errors import InputError
from spart_blocks.diagram import load
from spart_blocks.results import Results
from spart_blocks.results.mat_files import DamagedError, entries
from spart_blocks.results.recordings import read_recording

LOOP = "blocks: {i: {type: INTEGRATOR, x0: [1, 2]}, g: {type: GAIN, K: -1}}\n"
LOOP += "wires: [i -> g, g -> i]\nrun: {T: 0.01, log: [g]}\n"


@pytest.fixture
def parts(tmp_path):
    """The entries of a run's file."""
    import spart_blocks as sb

    file = tmp_path / "loop.yaml"
    file.write_text(LOOP)
    saved = sb.simulate(load(file), engine="interpreter").save(tmp_path / "run.npz")
    with zipfile.ZipFile(saved) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture
def refused(parts, tmp_path):
    """refused(name of an entry, its bytes) -> what is said of the file."""

    def told(name, raw):
        file = tmp_path / "bad.npz"
        with zipfile.ZipFile(file, "w") as archive:
            for key, value in (parts | {name: raw}).items():
                archive.writestr(key, value)
        with pytest.raises(InputError) as caught:
            Results.load(file)
        return str(caught.value)

    return told


def header(text, data=b"", version=1):
    size = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes((version, 0)) + size + text.encode("latin-1") + data


@pytest.mark.parametrize(
    "text",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (6,",
        "{" * 3000,
        "{" * 90 + "}" * 90,
        "(" * 60_000,
        "{'descr': '<f8', 'fortran_order': False, 'shape': (6L,), }",
        "'" * 501,
        "\\\n" * 100,
    ],
)
def test_a_header_that_numpy_has_not_written_is_not_parsed(refused, text, monkeypatch):
    # NumPy's own reader goes through Python's tokenizer: it fails in many ways, and slowly.
    monkeypatch.setattr(np.lib.format, "read_array", None)
    assert "entry 't' holds no plain numbers" in refused("t.npy", header(text))


@pytest.mark.parametrize("shape", ["(-1,)", "(99999999999999,)", "(6, 6)", "(7,)"])
def test_an_array_that_is_not_as_large_as_it_says_is_refused(refused, shape):
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    assert "entry 't'" in refused("t.npy", header(text, bytes(48)))


@pytest.mark.parametrize(
    "change",
    [{"name": [1]}, {"signals": [["g"]]}, {"labels": 3}, {"styles": [1]}, {"scale": ["a", "b"]},
     {"vector": [1.5]}, {"stairs": "no"}, {"what": 1}, {"signals": None}],
    ids=str,
)  # fmt: skip
def test_a_scope_that_is_none_is_refused(change):
    from dataclasses import asdict

    from spart_blocks.results import ScopeSpec

    scope = asdict(ScopeSpec("s", signals=("g",), labels=("a", "b"), scale=(0, 1)))
    assert ScopeSpec.from_plain(json.loads(json.dumps(scope))) == ScopeSpec(**scope)
    with pytest.raises((TypeError, KeyError)):
        ScopeSpec.from_plain(scope | change)


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_every_kind_are_read_as_numpy_does(version, order):
    from spart_blocks.results.archives import read_array

    for array in (np.arange(6.0), np.zeros((0, 3)), np.array(1.5), np.ones((2, 3, 4), order=order),
                  np.array([True, False]), np.arange(3, dtype=">i2"), np.array("text"),
                  np.array([1j]), np.asfortranarray(np.arange(6.0).reshape(2, 3))):  # fmt: skip
        file = io.BytesIO()
        np.lib.format.write_array(file, array, version=(version, 0))
        raw = file.getvalue()
        found = read_array(io.BytesIO(raw), len(raw), "biufcU", "x")
        np.testing.assert_array_equal(found, array)
        assert found.dtype == array.dtype


@pytest.mark.parametrize("part", ["signals", "info", "units", "aliases", "final_state", "scopes"])
@pytest.mark.parametrize("value", [None, 3, "x", [], [[1, 2]], [{"a": 1}], {"a": {"b": 1}}])
def test_a_description_that_lies_is_refused_or_can_be_told(parts, tmp_path, part, value):
    meta = json.loads(str(np.load(io.BytesIO(parts["meta.npy"]))))
    out = io.BytesIO()
    np.save(out, np.array(json.dumps(meta | {part: value})))
    file = tmp_path / "bad.npz"
    with zipfile.ZipFile(file, "w") as archive:
        for key, raw in (parts | {"meta.npy": out.getvalue()}).items():
            archive.writestr(key, raw)
    try:
        found = Results.load(file)
    except InputError:
        return
    assert found.summary()
    assert "t" in found.table()


# --- .mat --------------------------------------------------------------------------------


def mat(file, **arrays):
    options = {k: arrays.pop(k) for k in ("format", "do_compression") if k in arrays}
    savemat(file, arrays, **options)
    return file


@pytest.mark.parametrize("options", [{}, {"do_compression": True}, {"format": "4"}])
def test_mat_files_of_each_version_are_read(tmp_path, options):
    t = np.arange(5) / 10
    signals = {"u": np.column_stack([t, t**2]), "v": (10 * t).astype(np.int16), "w": t > 0.2}
    if options.get("format") == "4":
        signals = {"u": signals["u"]}
    file = mat(tmp_path / "data.mat", t=t, **signals, **options)
    found = read_recording(file, list(signals))
    for name, array in signals.items():
        np.testing.assert_array_equal(found[name].values, array)
        np.testing.assert_array_equal(found[name].times, t)


def test_a_damaged_mat_file_is_refused_and_ends_no_process(tmp_path):
    """Each byte of a file turned over: SciPy's own reader ends the process at some of them."""
    t = np.arange(3.0)
    raw = mat(tmp_path / "data.mat", t=t, q=np.column_stack([t, t])).read_bytes()
    for place in range(len(raw)):
        for bit in (1, 128):
            broken = bytearray(raw)
            broken[place] ^= bit
            try:
                list(entries(bytes(broken), ["t", "q"], 10_000))
            except (DamagedError, NotImplementedError):
                continue


def test_a_mat_file_that_unpacks_to_too_much_is_refused(tmp_path):
    file = mat(tmp_path / "zeros.mat", t=np.zeros(100_000), do_compression=True)
    with pytest.raises(DamagedError, match="unpacks to more than 1,000 bytes"):
        list(entries(file.read_bytes(), ["t"], 1000))
