"""Overrides replace values of a file, by full path or by a short one that has one meaning."""

from __future__ import annotations

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import DiagramError, SpartWarning

TEXT = """\
params: {kp: 1, list: [1, 2, 3], same: 4}
clocks: {fast: {T: 0.1}}
blocks:
  a: {type: CONSTANT, value: $kp}
  v: {type: CONSTANT, value: $list}
  q: {type: STEP, T: 2, on: 5}
  g: {type: GAIN, K: 2}
  z: {type: ZOH, clock: fast}
  s: {type: saturated}
  u: {type: saturated}
  same: {type: STEP, T: 1}
subsystems:
  saturated:
    params: {limit: 4}
    inputs: []
    outputs: [y]
    blocks: {c: {type: CONSTANT, value: $limit}}
    wires: [c -> out.y]
wires: [a -> g, g -> z]
run: {rtol: 1e-4}
"""


@pytest.mark.parametrize(
    ("override", "look", "value"),
    [
        ("params.kp=3", lambda d: d.bd.blocknames["a"].value, 3),
        ("kp=3", lambda d: d.bd.blocknames["a"].value, 3),
        ("kp=[1, 2]", lambda d: list(d.bd.blocknames["a"].value), [1.0, 2.0]),
        ("params.list.1=9", lambda d: list(d.bd.blocknames["v"].value), [1.0, 9.0, 3.0]),
        ("blocks.g.K=1e-6", lambda d: d.bd.blocknames["g"].K, 1e-6),
        ("g.K=0x10", lambda d: d.bd.blocknames["g"].K, 16),
        ("K=7", lambda d: d.bd.blocknames["g"].K, 7),
        ("q.off=2", lambda d: d.bd.blocknames["q"].off, 2.0),
        ("run.T=5", lambda d: d.run.T, 5.0),
        ("rtol=1e-3", lambda d: d.run.rtol, 1e-3),
        ("run.solver=BDF", lambda d: d.run.solver, "BDF"),
        ("clocks.fast.T=0.5", lambda d: d.bd.clocklist[0].T, 0.5),
        ("fast.T=$kp", lambda d: d.bd.clocklist[0].T, 1.0),
        ("blocks.g.type=POW", lambda d: d.bd.blocknames["g"].type, None),
        ("name=other", lambda d: d.name, "other"),
    ],
)
def test_an_override_takes_its_place(read, faults, override, look, value):
    if value is None:
        found = faults(TEXT, overrides=[override])
        assert found[0][2] == "unknown parameter 'K' of g (POW): it has p, matrix"
        return
    assert look(read(TEXT, overrides=[override])) == value


def test_overrides_may_be_a_mapping_with_python_values(read):
    diagram = read(TEXT, overrides={"kp": np.array([1.0, 2.0]), "run.T": 3, "list": (4, 5)})
    np.testing.assert_array_equal(diagram.bd.blocknames["a"].value, [1.0, 2.0])
    np.testing.assert_array_equal(diagram.bd.blocknames["v"].value, [4.0, 5.0])
    assert diagram.run.T == 3.0


def test_an_override_leaves_what_shares_an_alias_alone(read):
    text = "blocks: {a: &x {type: CONSTANT, value: 1}, b: *x}\n"
    made = read(text, overrides=["a.value=2"]).bd.blocknames
    assert (made["a"].value, made["b"].value) == (2, 1)


@pytest.mark.parametrize(
    ("override", "message", "hint"),
    [
        ("kpp=3", "there is nothing named 'kpp'", "'kp'"),
        ("vlaue=3", "there is nothing named 'vlaue'", "'value'"),
        ("off=3", "there is nothing named 'off'", "write q.off"),
        ("premul=1", "there is nothing named 'premul'", "write g.premul"),
        ("limit=3", "there is nothing named 'limit'", "write s.limit or u.limit"),
        ("same.T=3", "parameter 'same' is a value by itself", "write blocks.same.T"),
        ("params.k=3", "there is no parameter 'k'", "'kp'"),
        ("blocks.gg.K=3", "there is no block 'gg'", "'g'"),
        ("blocks.g=3", "blocks.g holds several values", ""),
        ("blocks=3", "'blocks' is a whole section", ""),
        ("value=3", "'value' is ambiguous", "blocks.a.value or blocks.v.value"),
        ("T=3", "'T' is ambiguous", "run.T or blocks.q.T or blocks.same.T"),
        ("kp", "has no path or no value", "path=value"),
        ("kp=[1", "not YAML", ""),
        ("kp=!x 1", "tag !x is refused", ""),
        ("params.list.7=1", "'7' is not an index of a list of 3", ""),
        ("kp.x=1", "there is no entry 'x'", ""),
        ("run.TT=1", "unknown key 'TT' in run", ""),
        ("run.T=abc", "run.T must be a number, not 'abc'", ""),
        ("g.KK=1", "unknown parameter 'KK' of g (GAIN): it has K, premul", ""),
    ],
)
def test_a_wrong_override_is_named_in_its_error(read, override, message, hint):
    with pytest.raises(DiagramError) as caught:
        read(TEXT, overrides=[override])
    (fault,) = caught.value.faults
    assert message in fault.message
    assert str(fault.place).startswith(f"override {override}")
    assert hint in (fault.hint or "")


def test_a_parameter_of_a_file_that_is_used_is_found_by_its_name(tmp_path):
    part = "params: {limit: 4}\ninputs: [u]\noutputs: []\nblocks: {g: {type: GAIN, K: $limit}}\n"
    (tmp_path / "part.yaml").write_text(part + "wires: [in.u -> g]\n")
    file = tmp_path / "whole.yaml"
    file.write_text(
        "blocks: {a: {type: CONSTANT, value: 1}, p: {use: part.yaml}}\nwires: [a -> p]\n"
    )
    with pytest.raises(DiagramError, match=r"nothing named 'limit'\n  write p\.limit"):
        sb.load(file, overrides=["limit=3"])
    sb.load(file, overrides=["p.limit=3"])


def test_an_override_of_a_parameter_that_is_nowhere_read_is_told(read):
    text = "params: {kp: 3, kd: 4}\nblocks: {a: {type: TIME}, b: {type: GAIN, K: $kd}}\n"
    with pytest.warns(SpartWarning, match=r"kp=7 changes nothing: no \$kp is in the file"):
        read(text + "wires: [a -> b]\n", overrides=["kp=7"])
    read(text + "wires: [a -> b]\n", overrides=["kd=7"])
