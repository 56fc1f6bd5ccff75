"""Definitions: read, checked, planned, applied; append-only revisions of what people wrote."""
