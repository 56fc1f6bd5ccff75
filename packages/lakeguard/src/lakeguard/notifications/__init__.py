"""Alerts and events, and the channels that deliver them."""
