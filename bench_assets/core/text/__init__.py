"""Texts: escaping, redaction of secrets, numbers in words, candidates for constant responses."""
