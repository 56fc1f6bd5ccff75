"""Conditions, aggregates and measures as syntax trees."""
