"""The events of a run in the order in which they happened. A long run has millions of them: then of
each block the first and the last ones are kept, and all are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from spart_blocks.results.run_data import Event

MOST_EVENTS = 20_000
"""The number of events beyond which some are left out."""


class EventLog:
    """kept: the events in order. counts: of each block all its events. stream: is called with each
    event; None for nothing.
    """

    def __init__(self) -> None:
        self.kept: list[Event] = []
        self.counts: Counter[str] = Counter()
        self.stream: Callable[[Event], None] | None = None
        self._most = MOST_EVENTS

    @property
    def total(self) -> int:
        """The number of all events."""
        return self.counts.total()

    def add(self, t: float, block: str, what: str) -> None:
        """Note an event of a block at t [s]."""
        event = Event(float(t), block, what)
        self.kept.append(event)
        self.counts[block] += 1
        if len(self.kept) > self._most:
            self._leave_out()
        if self.stream is not None:
            self.stream(event)

    def _leave_out(self) -> None:
        """Leave of each block as many of its first as of its last events, half of all at most."""
        each = max(MOST_EVENTS // (4 * len(self.counts)), 1)
        there, seen, kept = Counter(event.block for event in self.kept), Counter[str](), []
        for event in self.kept:
            before = seen[event.block]
            seen[event.block] += 1
            if before < each or there[event.block] - before <= each:
                kept.append(event)
        self.kept = kept
        self._most = max(MOST_EVENTS, 2 * len(kept))  # of very many blocks two each are more
