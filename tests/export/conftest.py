"""Parts of diagrams that are given as text."""

import pytest

from spart_blocks.program.subdiagram import subdiagram_of


@pytest.fixture
def part_from(tmp_path):
    """A part of a diagram given as text."""

    def make(text, *blocks):
        path = tmp_path / "diagram.yaml"
        path.write_text(text)
        return subdiagram_of(path, blocks)

    return make
