"""The proof that State, ledger and tables agree."""

from lakeguard.insight.verifying.verification import verify as verify
