"""Secret references, redaction and signed webhooks."""
