"""The types of policy: one file for each."""
