"""Every shipped diagram as an FMU of both versions, by both interfaces, over its whole run.

One command: .venv/bin/python -m pytest -s tests/nightly/test_fmu_of_every_diagram.py
"""

from pathlib import Path

import pytest

from spart_blocks.export import export_fmu, verify_fmu
from spart_blocks.program.subdiagram import subdiagram_of

FOLDER = Path(__file__).parents[2] / "diagrams"
DIAGRAMS = sorted(path for path in FOLDER.rglob("*.yaml") if path.parent.name != "controllers")

LONGEST = {"gravity_compensation": 5.0}
"""FMPy's CVODE takes at most 500 steps from output to output, and there are 100."""


@pytest.mark.parametrize("version", [3, 2])
@pytest.mark.parametrize("path", DIAGRAMS, ids=lambda path: path.stem)
def test_fmpy_gets_what_we_get(path, version, tmp_path):
    part = subdiagram_of(path)
    horizon = min(part.program.run.T, LONGEST.get(path.stem, float("inf")))
    found = verify_fmu(export_fmu(part, tmp_path, version), part, horizon=horizon)
    for (kind, name), error in found.errors.items():
        print(f"{path.stem:24} FMI {version} {kind:15} {name:28} {error:.1e}")
    assert found.passed, found.wrong
