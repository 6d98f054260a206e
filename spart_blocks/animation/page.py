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
ALLOWED = "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
"""What the page's policy allows; it forbids everything else, and all connections."""


def page_of(recording: Mapping[str, Any], say: Say | None = None) -> str:
    """The self-contained HTML page that shows a recording.

    recording: bodies with tracks, signals and the rest in SI units, as data for JSON. say: called
    with messages if the viewer has to be built first. Raises InputError if it cannot be built.
    """
    script = built(VIEWER, say)
    return packed_page(
        str(recording.get("name") or "motion"), {"spartRecording": recording}, script
    )


def packed_page(title: str, parts: Mapping[str, Any], script: Path, allowed: str = ALLOWED) -> str:
    """A page that unpacks its parts and then starts a script.

    parts: by the name under which the script finds each as a property of the window: bytes, or data
    for JSON. allowed: by the page's policy.
    """
    values = {
        "title": escape(title),
        "allowed": allowed,
        "parts": "\n".join(_part(name, value) for name, value in parts.items()),
        "script": _packed(script.read_bytes()),
    }
    template = TEMPLATE.read_text(encoding="utf-8")
    return re.sub(f"@({'|'.join(values)})@", lambda found: values[found[1]], template)


def _part(name: str, value: Any) -> str:
    kind, data = "bytes", value
    if not isinstance(value, bytes):
        kind = "json"
        data = json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
    attributes = f'id="{name}" type="application/octet-stream" data-kind="{kind}"'
    return f"<script {attributes}>{_packed(data)}</script>"


def _packed(data: bytes) -> str:
    return b64encode(zlib.compress(data, 9)).decode("ascii")
