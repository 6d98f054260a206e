"""Storage of a sweep: the columns of its table, histories, and the folder of its results."""
