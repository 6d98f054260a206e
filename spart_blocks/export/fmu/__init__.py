"""Subdiagrams as FMUs (Functional Mock-up Units) of FMI 2.0 and 3.0."""
