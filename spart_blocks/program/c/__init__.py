"""Expressions as C source text, and C source text as libraries."""
