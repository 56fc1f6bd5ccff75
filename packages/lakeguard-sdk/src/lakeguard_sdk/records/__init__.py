"""The metadata record platform: facts that any producer emits, in one schema."""
