"""Private columns, tag propagation and row samples."""
