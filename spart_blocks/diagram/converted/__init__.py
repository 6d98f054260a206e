"""Diagrams of other tools as diagram files: bdsim's editor (.bd) and Simulink (.mdl, .slx)."""
