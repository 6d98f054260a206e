"""`spart blocks FMU --blocks x.fmu` shows the ports of that FMU."""

import json

import pytest

pytest.importorskip("fmpy")


@pytest.fixture
def fmu(spart):
    made = spart("export", "fmu", "ramp.yaml", "--part", "int", "-o", "lag.fmu")
    assert made.code == 0
    return "lag.fmu"


@pytest.mark.parametrize("block", ["FMU", "FMU_ME"])
def test_the_ports_of_an_fmu_are_shown(block, ramp, fmu, spart):
    shown = spart("blocks", block, "--blocks", fmu, "--json")
    record = json.loads(shown.out)
    assert [port["name"] for port in record["inputs"]] == ["step"]
    assert [port["name"] for port in record["outputs"]] == ["int"]
    page = spart("blocks", block, "--blocks", fmu).out
    assert "The ports are those of lag.fmu." in page


def test_without_an_fmu_the_page_says_how(ramp, spart):
    assert "add --blocks NAME.fmu to see them" in spart("blocks", "FMU").out
    assert "--blocks" not in spart("blocks", "GAIN").out


def test_of_what_is_no_fmu_it_is_said(ramp, spart, tmp_path):
    (tmp_path / "bad.fmu").write_text("x")
    done = spart("blocks", "FMU", "--blocks", str(tmp_path / "bad.fmu"))
    assert done.code == 2
    assert "bad.fmu" in done.err
