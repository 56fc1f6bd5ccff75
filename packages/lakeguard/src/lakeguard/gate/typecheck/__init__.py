"""Type checks of parsed rules against a table schema."""
