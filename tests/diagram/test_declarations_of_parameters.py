"""The section `declare:`: unit, bounds and meaning of parameters, checked where they are set."""

from __future__ import annotations

import pytest

import spart_blocks as sb
from spart_blocks.export import export_fmu, package_files, step_code
from spart_blocks.program.subdiagram import subdiagram_of

SERVO = """\
name: servo
params:
  kp: 2
  both: [1, 2]
declare:
  kp: {unit: 1/s, min: 0, max: 10, doc: gain of the law}
  both: {min: 0}
blocks:
  goal: {type: CONSTANT, value: $both}
  error: {type: SUM, signs: "+-"}
  gain: {type: GAIN, K: $kp}
  x: {type: INTEGRATOR, x0: [0, 0]}
  scope: {type: SCOPE}
wires:
  - goal -> error.0
  - error -> gain
  - gain -> x
  - x -> error.1, scope
run: {T: 1}
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "servo.yaml"
    path.write_text(SERVO)
    return path


def message(file, **given):
    with pytest.raises(sb.DiagramError) as caught:
        sb.load(file, **given)
    [fault] = caught.value.faults
    return f"{fault.place}: {fault.message}"


def test_a_value_beyond_a_bound_is_one_message_where_it_is_set(file):
    assert sb.load(file).declared["kp"].unit == "1/s"
    above = message(file, overrides=["kp=99"])
    assert above.endswith("kp=99: kp is 99 1/s, above its max, 10 1/s")
    assert "both is -2, below its min, 0" in message(file, overrides=["both=[1, -2]"])
    file.write_text(SERVO.replace("kp: 2", "kp: -1"))
    assert message(file).startswith(f"{file}:3:7: kp is -1 1/s, below its min")


@pytest.mark.parametrize(
    ("declared", "why"),
    [
        ("kq: {min: 0}", "there is no parameter 'kq'"),
        ("kp: {min: 3, max: 1}", "no value is between"),
        ("kp: {units: N}", "unknown key 'units'"),
        ("kp: 3", "must be a mapping"),
    ],
)
def test_what_cannot_be_declared_is_refused(file, declared, why):
    file.write_text(SERVO.replace("  both: {min: 0}\n", "").replace(
        "  kp: {unit: 1/s, min: 0, max: 10, doc: gain of the law}", f"  {declared}"))  # fmt: skip
    assert why in message(file)


def test_the_runs_of_a_sweep_beyond_a_bound_fail_with_the_message(file):
    found = sb.sweep(file, over={"kp": [1, 10, 20]}, workers=1)
    assert list(found.failed) == [2]
    assert "kp is 20 1/s, above its max" in found["message"][2]


def test_exported_c_and_fmus_have_unit_bounds_and_meaning(file, tmp_path):
    part = subdiagram_of(sb.load(file))
    assert part.bounds["gain.K"] == (0, 10)
    texts = package_files(step_code(part), ())
    header = next(text for name, text in texts.items() if name.endswith("servo.h"))
    assert "/* gain.K [1/s]: gain of the law */" in header
    path = export_fmu(part, tmp_path, 3)
    import zipfile

    with zipfile.ZipFile(path) as packed:
        description = packed.read("modelDescription.xml").decode()
    [line] = [one for one in description.split("<") if 'name="gain.K"' in one]
    for text in ('description="gain of the law"', 'unit="1/s"', 'min="0.0"', 'max="10.0"'):
        assert text in line, line
