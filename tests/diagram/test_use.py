"""A file with ports is a block of the files that use it."""

from __future__ import annotations

import os
from textwrap import dedent

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import DiagramError

HINT = """\
did you mean 'GAIN'?
  For blocks of your own, name their file or package: --blocks, or blocks="""
DOUBLER = """\
params: {k: 2}
inputs: [u]
outputs: [y]
blocks: {g: {type: GAIN, K: $k}}
wires: [in.u -> g, g -> out.y]
"""
MAIN = """\
blocks:
  c: {type: CONSTANT, value: [1, 2]}
  a: {use: parts/doubler.yaml}
  b: {use: parts/doubler.yaml, k: 5}
  s: {type: SCOPE, labels: [x, y]}
wires: [c -> a, a -> b, b.y -> s]
run: {T: 1, log: [a/g]}
"""


@pytest.fixture
def project(tmp_path):
    """project(main, **parts): a folder of files, doubler among them; the main one's path."""

    def project(main=MAIN, **parts):
        (tmp_path / "parts").mkdir(exist_ok=True)
        for name, text in {"doubler": DOUBLER, **parts}.items():
            (tmp_path / "parts" / f"{name}.yaml").write_text(dedent(text))
        file = tmp_path / "main.yaml"
        file.write_text(dedent(main))
        return file

    return project


def refused(file, **options):
    """What is wrong, each as file:line:column, message and hint."""
    with pytest.raises(DiagramError) as caught:
        sb.load(file, **options)
    return [
        (f"{fault.place}".removeprefix(f"{file.parent}{os.sep}"), fault.message, fault.hint or "")
        for fault in caught.value.faults
    ]


def test_each_use_has_its_own_parameters_and_blocks(project):
    results = sb.simulate(project())
    assert np.array_equal(results["b"][-1], [10, 20])
    assert np.array_equal(results["a/g"][-1], [2, 4])


def test_parameters_of_the_user_go_in_by_reference_and_stay_one_parameter(project):
    text = MAIN.replace("doubler.yaml}", "doubler.yaml, k: $k}").replace("k: 5", "k: $k")
    diagram = sb.load(project("params: {k: 3}\n" + text))
    assert diagram.shared["k"] == (("a/g", "K"), ("b/g", "K"))
    stronger = sb.trace(diagram).with_parameters({"k": 7.0})
    assert np.array_equal(sb.simulate(stronger)["b"][-1], [49, 98])


def test_the_default_of_a_used_file_is_no_parameter_of_the_diagram(project):
    diagram = sb.load(project())
    assert diagram.shared == {}
    assert diagram.params == {}


def test_a_used_file_knows_no_parameter_of_its_user(project):
    text = DOUBLER.replace("$k", "$gain")
    found = refused(project("params: {gain: 3}\n" + MAIN, doubler=text))
    assert found == [("parts/doubler.yaml:4:29", "unknown parameter $gain", "it has k")]


def test_paths_are_relative_to_the_file_that_names_them(project):
    outer = "inputs: [u]\noutputs: [y]\nblocks: {d: {use: doubler.yaml, k: 3}}\n"
    outer += "wires: [in.u -> d, d -> out.y]\n"
    results = sb.simulate(project(MAIN.replace("a: {use: parts/doubler", "a: {use: parts/outer")
                                  .replace("a/g", "a/d/g"), outer=outer))  # fmt: skip
    assert np.array_equal(results["a/d/g"][-1], [3, 6])


def test_robots_and_clocks_of_the_user_are_known_by_name_and_its_own_come_first(project):
    held = """
    params: {clock: none}
    inputs: [u]
    outputs: [y]
    clocks: {slow: {T: 0.25}}
    blocks: {z: {type: ZOH, clock: $clock, x0: 0}}
    wires: [in.u -> z, z -> out.y]
    """
    text = """
    clocks: {fast: {T: 0.125}, slow: {T: 10}}
    blocks:
      t: {type: TIME}
      a: {use: parts/held.yaml, clock: fast}
      b: {use: parts/held.yaml, clock: slow}
      s: {type: SCOPE, nin: 2}
    wires: [t -> a, t -> b, a -> s, b -> s]
    run: {T: 0.9, every: 0.9}
    """
    results = sb.simulate(project(text, held=held))
    assert results["a"][-1] == 0.875
    assert results["b"][-1] == 0.75


def test_mistakes_in_a_used_file_have_its_place_and_are_told_once(project):
    bad = DOUBLER.replace("GAIN", "GAUN")
    assert refused(project(doubler=bad)) == [
        ("parts/doubler.yaml:4:20", "g: there is no block type 'GAUN'", HINT)
    ]


def test_a_circle_of_files_is_told_file_by_file(project):
    one = DOUBLER.replace("{type: GAIN, K: $k}", "{use: two.yaml}")
    two = DOUBLER.replace("{type: GAIN, K: $k}", "{use: one.yaml}")
    found = refused(project(MAIN.replace("doubler", "one"), one=one, two=two))
    message = "one.yaml uses itself: one.yaml uses two.yaml uses one.yaml"
    assert found[0][:2] == ("parts/two.yaml:4:19", message)
    me = MAIN.replace("parts/doubler", "main")
    assert refused(project(me))[0][1] == "main.yaml uses itself: main.yaml uses main.yaml"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("../../outside.yaml", "leaves the project"),
        ("/etc/passwd", "leaves the project"),
        ("parts/none.yaml", "does not exist"),
        ("parts", "is not a file"),
        ('"\\0"', "cannot open"),
    ],
)
def test_files_outside_the_project_or_missing_are_refused(project, path, message):
    place, found, _ = refused(project(MAIN.replace("parts/doubler.yaml}", path + "}")))[0]
    assert place == "main.yaml:3:12"
    assert message in found


def test_what_only_a_diagram_has_is_refused_in_a_used_file(project):
    found = refused(project(doubler=DOUBLER + "run: {T: 3}\n"))
    hint = "only the diagram that is run has this section"
    assert found == [("parts/doubler.yaml:6:1", "unknown key 'run' in a file that is used", hint)]


def test_a_file_with_ports_says_that_it_is_for_others(project, tmp_path):
    project()
    found = refused(tmp_path / "parts" / "doubler.yaml")
    assert [message for _, message, _ in found][:2] == [
        "unknown key 'inputs' in a diagram",
        "unknown key 'outputs' in a diagram",
    ]
    assert "write use: and its path" in found[0][2]


def test_unknown_parameters_and_wires_to_no_port_name_the_file(project):
    found = refused(project(MAIN.replace("k: 5", "kk: 5").replace("c -> a", "c -> a.x")))
    assert found[0] == (
        "main.yaml:4:32",
        "unknown parameter 'kk' of b (parts/doubler.yaml): it has k",
        "did you mean 'k'?",
    )
    assert found[1][1] == "no port 'x' on a (parts/doubler.yaml): it has u"


def test_a_block_has_a_type_or_a_file_not_both(project):
    found = refused(project(MAIN.replace("{use: p", "{type: GAIN, use: p")))
    assert found[0][1].endswith("a block has either a type or a file that it uses, not both")


def test_files_that_multiply_are_stopped_early(project):
    """Sixteen files that each use the next one four times stand for 4^16 blocks."""
    four = "inputs: [u]\noutputs: [y]\nblocks:\n" + "".join(
        f"  b{i}: {{use: NEXT}}\n" for i in range(4)
    )
    four += "wires: [in.u -> b0, b0 -> b1, b1 -> b2, b2 -> b3, b3 -> out.y]\n"
    parts = {f"f{i}": four.replace("NEXT", f"f{i + 1}.yaml") for i in range(16)}
    found = refused(project(MAIN.replace("doubler", "f0"), **parts, f16=DOUBLER))
    assert any("files are used more than" in message for _, message, _ in found)


def test_a_chain_of_files_that_is_too_long_is_refused(project):
    link = DOUBLER.replace("{type: GAIN, K: $k}", "{use: NEXT}")
    parts = {f"f{i}": link.replace("NEXT", f"f{i + 1}.yaml") for i in range(20)}
    found = refused(project(MAIN.replace("doubler", "f0"), **parts, f20=DOUBLER))
    assert any("more than 16 files in each other" in message for _, message, _ in found)


def test_the_kept_program_follows_a_used_file(project, tmp_path, monkeypatch):
    monkeypatch.setenv("SPART_CACHE", str(tmp_path / "cache"))
    file = project()
    assert sb.simulate(file)["b"][-1, 0] == 10
    assert sb.simulate(file)["b"][-1, 0] == 10
    project(doubler=DOUBLER.replace("k: 2", "k: 3"))
    assert sb.simulate(file)["b"][-1, 0] == 15


def test_use_within_a_subsystem(project):
    text = """
    params: {k: 4}
    subsystems:
      twice:
        params: {g: 3}
        inputs: [u]
        outputs: [y]
        blocks: {a: {use: parts/doubler.yaml, k: $g}, b: {use: parts/doubler.yaml, k: $k}}
        wires: [in.u -> a, a -> b, b -> out.y]
    blocks: {c: {type: CONSTANT, value: 1}, t: {type: twice}, s: {type: SCOPE}}
    wires: [c -> t, t -> s]
    """
    assert sb.simulate(project(text), T=1)["t"][-1] == 12
