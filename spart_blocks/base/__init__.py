"""What every other part may use: errors, caches, documents, rotations, random numbers."""
