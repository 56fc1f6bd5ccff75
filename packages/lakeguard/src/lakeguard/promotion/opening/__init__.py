"""What a run is given when it opens."""
