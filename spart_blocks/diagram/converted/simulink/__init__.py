"""Reads models of Simulink: files, systems, and a rule for each type of block."""
