"""Builds: from a source, SQL, Python, a frame or quarantined rows."""
