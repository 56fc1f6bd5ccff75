"""Table definitions of the State, by family."""
