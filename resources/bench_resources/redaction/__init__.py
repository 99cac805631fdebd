"""Redaction of secrets in model responses, logs and Dagster's records."""
