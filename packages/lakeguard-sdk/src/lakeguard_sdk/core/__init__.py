"""Names, enums, ids and canonical JSON: what every other module builds on."""
