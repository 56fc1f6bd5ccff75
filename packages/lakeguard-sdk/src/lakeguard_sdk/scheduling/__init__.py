"""Jobs, tasks, cron expressions and job processes."""
