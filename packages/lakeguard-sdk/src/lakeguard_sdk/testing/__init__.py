"""For those who test their own lake: a throw-away one, and assertions that read the ledger."""
