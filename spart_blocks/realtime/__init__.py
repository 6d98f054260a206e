"""A part of a diagram on a real clock: its loop, its links, its watchdog, its report."""
