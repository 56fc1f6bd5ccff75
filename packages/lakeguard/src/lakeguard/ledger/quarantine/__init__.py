"""Facts about quarantined rows."""
