"""The job graph and its deployed versions."""
