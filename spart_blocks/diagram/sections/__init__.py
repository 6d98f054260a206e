"""The sections of a diagram file: their models, options and schema."""
