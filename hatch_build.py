"""The build hook of the package: it builds the pages for browsers where Node.js is at hand.

Without Node.js the package installs all the same, and the commands that need a page say so.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent


class PagesHook(BuildHookInterface):
    """Builds the viewer and the studio's page before a wheel, an sdist or an editable install."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        sys.path.insert(0, str(ROOT))
        try:
            from spart_blocks.base.web_build import PAGES, VIEWER, built

            # In an editable install the studio's page is built when it is first opened.
            for page in PAGES if version == "standard" else (VIEWER,):
                try:
                    built(page, self.app.display_waiting)
                except Exception as error:  # the package is whole without it
                    self.app.display_warning(f"without {page.what}: {error}")
        finally:
            sys.path.remove(str(ROOT))
        # hatchling 1.33 has looked for the files of licences before: those of the pages are new.
        self.metadata.core._license_files = None
