"""Commands that describe datasets and sources."""
