"""Workers: taking tasks from the queue and running each to its end."""
