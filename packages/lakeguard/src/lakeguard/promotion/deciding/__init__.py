"""Evidence in, recorded decision out."""
