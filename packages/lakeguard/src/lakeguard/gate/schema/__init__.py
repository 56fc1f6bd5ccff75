"""Schema changes, compatibility profiles and types."""
