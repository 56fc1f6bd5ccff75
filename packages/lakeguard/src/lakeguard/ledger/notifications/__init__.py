"""Facts about alerts, events and their deliveries."""
