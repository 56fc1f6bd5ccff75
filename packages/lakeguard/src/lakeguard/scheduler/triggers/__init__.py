"""Triggers: cron, dataset updates, files, events, and ends of other jobs."""
