"""Records in files, on a local folder or in an object store: the embedded default."""
