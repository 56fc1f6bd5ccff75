"""The read port."""
