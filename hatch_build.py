"""The build hook of the package: it builds the 3-D viewer where Node.js is at hand.

Without Node.js the package installs all the same, and `spart animate` says what it needs.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent


class ViewerHook(BuildHookInterface):
    """Builds `spart_blocks/motion/page/` before a wheel, an sdist or an editable install."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        sys.path.insert(0, str(ROOT))
        try:
            from spart_blocks.motion import viewer_build

            viewer_build.viewer(self.app.display_waiting)
        except Exception as error:  # the package is whole without its viewer
            self.app.display_warning(f"without the 3-D viewer of spart animate: {error}")
        finally:
            sys.path.remove(str(ROOT))
