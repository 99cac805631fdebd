"""Dagster runs: heartbeats, orphaned runs, pending runs, Ray and Kubernetes launchers."""
