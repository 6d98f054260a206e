"""A subdiagram in real time: its loop, its links, its watchdog, its report."""

from spart_blocks.realtime.loop import Loop
from spart_blocks.realtime.report import Report
from spart_blocks.realtime.session import Prepared, Session, prepare, run

__all__ = ["Loop", "Prepared", "Report", "Session", "prepare", "run"]
