"""SQL builds: parsing, tables read, column lineage."""
