"""Derivatives of whole runs by parameters, events included."""
