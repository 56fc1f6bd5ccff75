"""Definitions: parse, check, plan and apply; stored as append-only revisions."""
