"""What a sweep keeps: columns, histories, and the folder of its results."""
