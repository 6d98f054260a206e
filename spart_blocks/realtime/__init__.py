"""Runs a subdiagram in real time: its loop, links, watchdog and report."""

from spart_blocks.realtime.loop import Loop
from spart_blocks.realtime.report import Report
from spart_blocks.realtime.session import Prepared, Session, prepare, run

__all__ = ["Loop", "Prepared", "Report", "Session", "prepare", "run"]
