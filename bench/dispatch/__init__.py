"""Tasks claimed and completed, beside two other queues on PostgreSQL."""
