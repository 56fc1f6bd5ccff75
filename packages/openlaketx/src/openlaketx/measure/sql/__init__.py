"""SQL for measures."""
