"""Source files: discovery, landing, order and columns."""
