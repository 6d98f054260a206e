"""A browser for the pages of motion."""

from __future__ import annotations

import pytest
from browsers import SOFTWARE_GL, chromium


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile"), *SOFTWARE_GL) as browser:
        yield browser
