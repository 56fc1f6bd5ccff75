"""Evaluation of compiled rules against evidence."""
