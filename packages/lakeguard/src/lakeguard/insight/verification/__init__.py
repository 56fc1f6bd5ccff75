"""Verifies that State, ledger and tables agree."""

from lakeguard.insight.verification.verification import verify as verify
