"""What blocks share: their ports, checks, states and laws."""
