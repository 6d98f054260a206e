"""`spart schema`: what an editor takes and what it marks is what the loader takes and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

import spart_blocks as sb
from spart_blocks.base.document import read_document
from spart_blocks.cli.app import app

ROOT = Path(__file__).parents[2]
SHIPPED = sorted((ROOT / "diagrams").rglob("*.yaml"))
OWN = """
from bdsim.components import FunctionBlock

class Tripled(FunctionBlock):
    \"\"\"Three times its input.

    :param offset: what is added
    :type offset: float
    \"\"\"

    nin = 1
    nout = 1

    def __init__(self, offset: float = 0.0, **blockargs):
        super().__init__(**blockargs)
        self.offset = offset

    def output(self, t, inputs, x):
        return [3 * inputs[0] + self.offset]
"""


def printed(*options):
    text = CliRunner().invoke(app(), ["schema", *map(str, options)]).stdout
    jsonschema.Draft202012Validator.check_schema(json.loads(text))
    return jsonschema.Draft202012Validator(json.loads(text))


@pytest.fixture(scope="module")
def schema():
    return printed()


@pytest.fixture(scope="module")
def of_parts():
    return printed("--ports")


def data_of(folder, text):
    """What the loader reads of a text: scalars as YAML 1.2 has them."""
    (folder / "data.yaml").write_text(text)
    return read_document(folder / "data.yaml").data


def problems(schema, data):
    """What is wrong, down to the entries of alternatives."""
    found = list(schema.iter_errors(data))
    return [error.message for error in found] + [
        inner.message for error in found for inner in error.context or ()
    ]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_shipped_diagram_is_taken(schema, of_parts, path):
    data = read_document(path).data
    used = of_parts if "inputs" in data else schema
    assert problems(used, data) == []


@pytest.mark.parametrize("path", (ROOT / "spart_blocks/starter").rglob("*s/*.yaml.in"))
def test_the_diagrams_of_a_new_project_are_taken(schema, of_parts, path, tmp_path):
    data = data_of(tmp_path, path.read_text())
    assert problems(of_parts if "inputs" in data else schema, data) == []


WRONG = {
    "a misspelt type": ("blocks: {i: {type: INTEGRATR}}", "INTEGRATR"),
    "a type in small letters": ("blocks: {i: {type: integrator}}", "integrator"),
    "a type of Simulink": ("blocks: {i: {type: Transfer Fcn}}", "Transfer Fcn"),
    "a misspelt type beside subsystems": (
        "subsystems: {twice: {}}\nblocks: {i: {type: INTEGRATR}}",
        "INTEGRATR",
    ),
    "a misspelt type within a subsystem": (
        "subsystems: {twice: {blocks: {i: {type: INTEGRATR}}}}\nblocks: {}",
        "INTEGRATR",
    ),
    "a type that no file can have": ("blocks: {f: {type: FUNCTION}}", "FUNCTION"),
    "a null type": ("blocks: {n: {type: NULL}}", "None"),
    "neither type nor file": ("blocks: {i: {x0: 1}}", "'type' is a required"),
    "type and file": ("blocks: {i: {type: GAIN, use: a.yaml}}", "valid under each"),
    "a misspelt parameter": ("blocks: {p: {type: JOINT_PD, kp: 1, kD: 2}}", "kD"),
    "a parameter in small letters": ("blocks: {g: {type: GAIN, k: 2}}", "'k'"),
    "a name as a parameter": ("blocks: {g: {type: GAIN, name: two}}", "'name'"),
    "a missing parameter": ("blocks: {p: {type: JOINT_PD, kp: 1}}", "'kd' is a required"),
    "a missing clock": ("blocks: {z: {type: ZOH}}", "'clock' is a required"),
    "text for a number": ("blocks: {s: {type: STEP, T: soon}}", "soon"),
    "a number for text": ("blocks: {s: {type: SUM, signs: 2}}", "2 is not"),
    "a number for truth": ("blocks: {g: {type: GAIN, premul: 1}}", "1 is not"),
    "a choice that is none": (
        "blocks: {v: {type: VIA_POINTS, points: [1, 2], method: cubic}}",
        "cubic",
    ),
    "a mapping for a number": ("blocks: {g: {type: GAIN, K: {a: 1}}}", "is not"),
    "a section that is none": ("blocks: {}\nwire: []", "wire"),
    "wires as text": ("blocks: {}\nwires: a -> b", "a -> b"),
    "blocks as a list": ("blocks: [{type: GAIN}]", "not of type 'object'"),
    "an option of runs that is none": ("blocks: {}\nrun: {t: 3}", "'t'"),
    "text for an end time": ("blocks: {}\nrun: {T: ten}", "ten"),
    "a negative end time": ("blocks: {}\nrun: {T: -1}", "-1"),
    "a key of clocks that is none": ("blocks: {}\nclocks: {c: {period: 1}}", "period"),
    "a key of robots that is none": ("blocks: {}\nrobots: {r: {file: a.urdf}}", "file"),
    "a claim that is none": ("blocks: {}\nexpect: {settle: []}", "settle"),
    "no blocks": ("run: {T: 1}", "'blocks' is a required"),
}


@pytest.mark.parametrize(("text", "told"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_marked_and_refused_by_the_loader_too(schema, text, told, tmp_path):
    assert any(told in message for message in problems(schema, data_of(tmp_path, text)))
    (tmp_path / "wrong.yaml").write_text(text)
    with pytest.raises(sb.DiagramError):
        sb.load(tmp_path / "wrong.yaml")


@pytest.mark.parametrize(
    "text",
    [
        "subsystems: {twice: {}}\nblocks: {a: {type: twice, k: 2}}",
        "params: {k: 2, s: '+-', p: true}\n"
        "blocks: {g: {type: GAIN, K: $k, premul: $p}, s: {type: SUM, signs: $s}}",
        "params: {gains: 2}\nblocks: {p: {type: JOINT_PD, kp: $gains, kd: [$gains, 1]}}",
        'blocks: {n: {type: "NULL", nin: 2}, s: {type: STEP, on: [1, 2]}}',
        "blocks: {c: {use: part.yaml, kp: 3}}",
        "blocks: {i: {type: INTEGRATOR, min: null, max: .inf}}",
        "robots:\nblocks: {}\nwires:",
    ],
)
def test_what_the_loader_takes_is_not_marked(schema, text, tmp_path):
    assert problems(schema, data_of(tmp_path, text)) == []


def test_blocks_of_ones_own_are_known_when_they_are_named(tmp_path):
    (tmp_path / "mine.py").write_text(OWN)
    own = printed("--blocks", tmp_path / "mine.py")
    assert problems(own, {"blocks": {"a": {"type": "TRIPLED", "offset": 2}}}) == []
    assert any(
        "ofset" in m for m in problems(own, {"blocks": {"a": {"type": "TRIPLED", "ofset": 1}}})
    )


def test_the_schema_of_files_with_ports_is_one_of_its_own(of_parts):
    assert of_parts.schema["title"] == "spart_blocks file with ports"
    data = {"inputs": ["u"], "blocks": {"i": {"type": "INTEGRATR"}}}
    assert any("INTEGRATR" in message for message in problems(of_parts, data))
