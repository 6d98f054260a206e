"""Tests of a diagram: check the claims of its section `expect:` in a process of their own."""
