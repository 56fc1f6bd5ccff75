"""Notifications and their deliveries, written with the facts that cause them."""
