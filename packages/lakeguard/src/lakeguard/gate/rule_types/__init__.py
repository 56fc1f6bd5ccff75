"""The rule types that are code: one file for each family."""
