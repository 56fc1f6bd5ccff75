"""The HTTP API: the table of operations, and the client generated from it."""
