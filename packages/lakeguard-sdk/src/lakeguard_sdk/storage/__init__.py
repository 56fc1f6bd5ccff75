"""The storage port, folders of a run, and fault points for tests."""
