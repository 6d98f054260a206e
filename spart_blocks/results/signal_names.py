"""Prefixes of the names of states and their rates, keys of facts, and names of files."""

from __future__ import annotations

import re

STATES = "states."
RATES = "rates."
"""Prefix of a block's name for the rates of its states."""

THINNED = "thinned"
"""The fact of a run whose record is thinned: the length of its stretches [s], of each of which
it has the rows with the least and the greatest value of each signal.
"""

EVENTS = "events"
"""The fact of a run that had more events than its results contain: the number of all."""

_DEVICE = re.compile(r"(con|prn|aux|nul|(com|lpt)\d)(\..*)?", re.IGNORECASE)


def file_name(text: str, otherwise: str) -> str:
    """A name changed to be safe for a file or folder, on Windows too, where devices have names;
    `otherwise` if nothing remains of it."""
    name = re.sub(r"[^\w.-]+", "_", text).strip("._")[:80] or otherwise
    return f"{name}_" if _DEVICE.fullmatch(name) else name
