"""Views over the State with the columns of the control and ingestion tables."""
