"""The first three minutes: a year of real flights through bronze, silver and gold."""
