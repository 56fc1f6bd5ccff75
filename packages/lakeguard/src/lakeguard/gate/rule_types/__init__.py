"""Built-in rule types, one module per family."""
