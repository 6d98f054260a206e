"""Estimates of parameters from measured signals."""
