"""Tests of a diagram: the claims of its section `expect:`, judged in a process of their own."""
