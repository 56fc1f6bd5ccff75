"""Job graph, triggers, launch gates and invalidations."""
