"""Keeps the values of loaded rows as they were given, and gives them back."""
