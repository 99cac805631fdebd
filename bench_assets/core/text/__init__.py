"""Escaping of untrusted text, and redaction of secrets."""
