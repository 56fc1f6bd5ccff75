"""The HTTP API: one table of operations, and the client made of it."""
