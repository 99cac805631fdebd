"""Redaction of secrets in responses, logs, standard error and Dagster's records."""
