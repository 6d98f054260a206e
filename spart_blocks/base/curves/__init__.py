"""Curves through points and tables, on numbers and on symbols."""
