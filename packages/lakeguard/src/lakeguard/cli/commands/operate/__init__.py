"""Commands for jobs, workers and the ledger."""
