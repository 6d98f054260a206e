"""Jobs of the studio, each in a process of its own: commands of `spart`, and tests of diagrams."""
