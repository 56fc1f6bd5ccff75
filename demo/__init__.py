"""The demo: a year of real flights through bronze, silver and gold."""
