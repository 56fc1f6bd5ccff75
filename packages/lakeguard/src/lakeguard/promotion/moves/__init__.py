"""Rollback, adoption, compaction, reaping and cancellation."""
