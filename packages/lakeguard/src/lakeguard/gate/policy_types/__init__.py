"""Policy types, one module each."""
