"""Column types and table schemas."""
