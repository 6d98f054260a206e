"""The HTML page of a recording, which contains the viewer and the data.

Both are compressed, and the browser decompresses them. The page's policy forbids all connections,
so it works from file://, and it will show the same years later.
"""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64encode
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from spart_blocks.base.web_build import VIEWER, Say, built

TEMPLATE = Path(__file__).with_name("page.html")


def page_of(recording: Mapping[str, Any], say: Say | None = None) -> str:
    """The self-contained HTML page that shows a recording.

    recording: bodies with tracks, signals and the rest in SI units, as data for JSON. say: called
    with messages if the viewer has to be built first. Raises InputError if it cannot be built.
    """
    data = json.dumps(recording, separators=(",", ":"), allow_nan=False)
    parts = {
        "title": escape(str(recording.get("name") or "motion")),
        "recording": _packed(data.encode()),
        "viewer": _packed(built(VIEWER, say).read_bytes()),
    }
    template = TEMPLATE.read_text(encoding="utf-8")
    return re.sub(f"@({'|'.join(parts)})@", lambda found: parts[found[1]], template)


def _packed(data: bytes) -> str:
    return b64encode(zlib.compress(data, 9)).decode("ascii")
