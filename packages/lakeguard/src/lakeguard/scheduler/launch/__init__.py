"""Launch gates and launches."""
