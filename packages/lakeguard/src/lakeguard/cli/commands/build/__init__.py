"""Commands that build, publish and repair."""
