"""`spart optimize`: what it prints, writes and refuses."""

import json

import pytest
from carts import CART


@pytest.fixture
def cart(tmp_path):
    path = tmp_path / "cart.yaml"
    path.write_text(CART, encoding="utf-8")
    return path


def test_it_prints_the_optimum_runs_it_again_and_writes_what_is_asked_for(spart, cart, tmp_path):
    out, page = tmp_path / "optimum.csv", tmp_path / "new" / "optimum.html"
    answer = spart("optimize", cart, "--out", out, "--report", page, "--write")
    assert answer.code == 0
    assert "least duration 2" in answer.out
    assert "u       -1 to 1  100 % of the time at a bound" in answer.out
    assert "run again with these controls, states differ by at most" in answer.out
    assert out.read_text().startswith("t,u,states.v[0],states.p[0]\n0.0,")
    assert page.read_text().count("<img") == 4
    assert "type: DATA, file: cart_optimum.csv" in cart.read_text()
    run = spart("run", cart, "--headless")
    assert run.code == 0
    again = spart("optimize", cart, "-q", "--write")
    assert (again.code, again.out) == (0, "")


def test_options_stand_for_the_section(spart, cart, tmp_path):
    cart.write_text(CART.partition("optimize:")[0], encoding="utf-8")
    out = tmp_path / "optimum.json"
    options = ["--minimize", "integral(u**2)", "-u", "u", "--end", "p=1", "--end", "v=0"]
    mesh = ["--intervals", "4", "--degree", "2", "--tolerance", "1e-5"]
    limit = ["--limit", "v={max: 2}", "--t", "1"]
    answer = spart("optimize", cart, *options, *mesh, *limit, "--out", out)
    assert answer.code == 0
    content = json.loads(out.read_text())
    assert content["objective"]["value"] == pytest.approx(12, rel=1e-5)
    assert content["phases"][0]["degree"] == 2
    gains = tmp_path / "gains.npz"
    assert spart("optimize", cart, *options, "--t", "1", "-q", "--out", gains).code == 0
    assert gains.exists()


def test_what_cannot_be_met_is_told_with_exit_code_1(spart, cart):
    answer = spart("optimize", cart, "--t", "1")
    assert answer.code == 1
    assert "no optimum" in answer.out
    assert "not met: p at 1 s by 0.75" in answer.out


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["-u", "nope"], "there is nothing named 'nope'"),
        (["--end", "p"], "p has no limit"),
        (["--end", "q=1"], "there is no signal 'q'"),
        (["--minimize", "peak(v)"], "no smooth value"),
        (["--t", "[2, 1]"], "min, 2.0, is above max, 1.0"),
        (["--out", "x.txt"], "x.txt"),
        (["--start", "missing.json"], "cannot read missing.json"),
    ],
)
def test_a_wrong_option_is_refused_with_exit_code_2(spart, cart, options, text):
    answer = spart("optimize", cart, *options)
    assert answer.code == 2
    assert text in answer.err
    assert "Traceback" not in answer.err
