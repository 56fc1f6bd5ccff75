"""The schema revision that this version of the code reads and writes."""

SCHEMA_HEAD = "0001"
