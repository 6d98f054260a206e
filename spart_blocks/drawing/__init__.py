"""Pictures of boxes and wires."""
