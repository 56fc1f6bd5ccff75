"""Replay, back-test and rebuild of past decisions."""
