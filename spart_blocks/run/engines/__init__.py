"""The engines of a run, which evaluate the equations of a diagram: by its blocks, or
as a program.
"""
