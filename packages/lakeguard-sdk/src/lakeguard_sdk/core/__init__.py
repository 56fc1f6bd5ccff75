"""Names, enums, ids and canonical JSON, used by every other module."""
