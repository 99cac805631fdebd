"""Escaping, redaction of secrets, and spelling suggestions."""
