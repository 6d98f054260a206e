"""Margins, norms and poles of linear systems, with their exact derivatives."""
