"""Pictures of boxes and wires: where they go, and how they are painted. Knows no blocks.

`layout` puts boxes into layers and runs the wires between them; `placed` keeps boxes where people
have put them, and `router` leads wires around these. `picture` has the shapes of a picture, and
`boxes` those of boxes with texts and ports, and of their wires; `files` writes and shows them.

Lengths are in units of the grid, a tenth of an inch; y points down.
"""
