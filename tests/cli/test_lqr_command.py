"""`spart lqr`."""

from __future__ import annotations

import json

import pytest
import yaml

CART = """
name: cart
blocks:
  v: {type: INTEGRATOR}
  x: {type: INTEGRATOR, x0: 1.0}
  state: {type: MUX}
  ctrl: {type: LQR, K: {lqr: {plant: [x, v], inputs: [v], Q: 1, R: 1}}}
wires: [v -> x, x -> state, v -> state, state -> ctrl.x, ctrl -> v]
run: {T: 1}
"""
PLANT = ["--plant", "x", "--plant", "v", "-i", "v", "--Q", "1", "--R", "1"]


@pytest.fixture
def cart(tmp_path):
    (tmp_path / "cart.yaml").write_text(CART, encoding="utf-8")
    return tmp_path / "cart.yaml"


@pytest.mark.parametrize(("words", "name"), [(PLANT, "x, v"), ([], "ctrl")], ids=["asked", "file"])
def test_the_gain_and_the_poles_are_printed(spart, cart, words, name):
    answer = spart("lqr", cart, *words)
    assert answer.code == 0
    assert answer.out.startswith(f"{name}: continuous, 2 states, 1 inputs\n")
    rows = [line.split() for line in answer.out.splitlines()]
    assert ["x", "1"] in rows
    assert ["v", "1.73205"] in rows  # the root of 3
    assert "-0.866025 + 0.5j" in answer.out


def test_the_gain_is_saved(spart, cart, tmp_path):
    for suffix in ("json", "csv", "yaml"):
        assert spart("lqr", cart, *PLANT, "-o", f"gain.{suffix}").code == 0
    read = json.loads((tmp_path / "gain.json").read_text())
    assert read["K"] == [pytest.approx([1.0, 3**0.5])]
    assert (read["states"], read["inputs"], read["T"]) == (["x", "v"], ["v.0"], None)
    assert read["point"] == {"x": [1.0], "v": [0.0]}
    names, row = (tmp_path / "gain.csv").read_text().splitlines()
    assert names == ",x,v"
    assert row == ",".join(["v.0", *map(repr, read["K"][0])])
    entry = yaml.safe_load((tmp_path / "gain.yaml").read_text())
    assert entry["K"] == read["K"]
    assert entry["hold"] == [0.0]


def test_weights_points_and_periods_are_read(spart, cart):
    words = [*PLANT[:-4], "--Q", "{x: 0.5, v: 2}", "--R", "[4]", "--at", "{x: [2], v: [0]}"]
    answer = spart("lqr", cart, *words, "--T", "0.1")
    assert answer.code == 0
    assert answer.out.startswith("x, v: sampled, T = 0.1 s")


def test_a_point_may_be_a_saved_run(spart, cart):
    assert spart("run", cart, "-o", "run.npz", "-q").code == 0
    words = ["lqr", cart, "--plant", "x", "-i", "x", "--Q", "1", "--R", "1", "--at", "run.npz"]
    assert spart(*words, "-o", "gain.json").code == 0
    assert json.loads(cart.with_name("gain.json").read_text())["point"]["x"] != [1.0]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--Q", "1"], "name the --plant whose state is fed back"),
        (["--T", "0.1"], "name the --plant whose state is fed back"),
        (["--plant", "x"], "--plant needs --Q and --R"),
        (["--plant", "y", "--Q", "1", "--R", "1"], "no block 'y' with a continuous state"),
        ([*PLANT, "--T", "-1"], "T is -1"),
        ([*PLANT, "-o", "gain.mat"], "end it in .json, .csv or .yaml"),
        ([*PLANT[:-1], "[1"], "--R"),
        ([*PLANT, "--at", "none.npz"], "none.npz"),
        (["--set", "blocks.ctrl.K.lqr.R=0"], "R is not positive definite"),
        (["--set", "blocks.ctrl.K=[1, 2]"], "no block LQR whose gain is to be found"),
    ],
)
def test_wrong_input_is_told(spart, cart, words, message):
    answer = spart("lqr", cart, *words)
    assert answer.code == 2
    assert message in answer.err
