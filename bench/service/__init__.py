"""The HTTP service on PostgreSQL: lists, searches, decisions, workers and a long load."""
