"""Links of diagrams with the outside: the bytes of a frame, and where frames go."""
