"""Use cases that still print or prompt on their own."""
