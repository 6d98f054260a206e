"""Searches for the parameters of designs."""
