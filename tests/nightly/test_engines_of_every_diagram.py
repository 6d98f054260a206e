"""Both engines, with a compiler and without one, give the results of every top-level diagram."""

from __future__ import annotations

import pytest
from test_shipped_diagrams import DIAGRAMS, EVERY_DAY, assert_engines_agree

REST = [path for path in DIAGRAMS if path not in EVERY_DAY]


@pytest.mark.parametrize("compiler", ["if there", "none"])
@pytest.mark.parametrize("path", REST, ids=lambda path: path.stem)
def test_both_engines_give_the_same_results(path, compiler, monkeypatch):
    if compiler == "none":
        monkeypatch.setenv("SPART_COMPILER", "none")
    assert_engines_agree(path)
