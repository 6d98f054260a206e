"""Every diagram in the folders of diagrams/ claims that both engines agree; pytest runs it."""

from pathlib import Path

import spart_blocks as sb

FOLDER = Path(__file__).parents[2] / "diagrams"


def test_each_diagram_has_its_engines_compared():
    paths = [path for path in FOLDER.glob("*/*.yaml") if path.parent.name != "controllers"]
    assert len(paths) >= 20
    without = [
        path.name for path in paths if "engines" not in sb.load(path).expect.model_fields_set
    ]
    assert without == []
