"""Edits of definition files, export and schema approval."""
