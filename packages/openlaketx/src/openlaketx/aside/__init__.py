"""Setting rows aside: those that fail a rule leave what is staged, and are kept."""

from openlaketx.aside.sieve import Sieve

__all__ = ["Sieve"]
