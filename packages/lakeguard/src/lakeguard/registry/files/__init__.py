"""Definition files, one parser per kind."""
