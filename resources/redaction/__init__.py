"""Redaction of secrets in logs and in Dagster's records."""
