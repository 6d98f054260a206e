"""Plans of sweeps: the varied values, their draws, and the parameters of the program that they
set.
"""
