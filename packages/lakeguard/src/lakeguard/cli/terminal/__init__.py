"""Output, layout and progress on a terminal."""
