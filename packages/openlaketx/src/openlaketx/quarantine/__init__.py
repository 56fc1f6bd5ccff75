"""Setting rows aside: those that fail a rule leave what is staged, and are kept."""

from openlaketx.quarantine.splitter import Sieve

__all__ = ["Sieve"]
