"""Notifications: alerts and events, and the channels that deliver them."""
