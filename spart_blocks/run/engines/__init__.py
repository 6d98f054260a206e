"""The engines of a run: the equations of a diagram, interpreted or as a program."""
