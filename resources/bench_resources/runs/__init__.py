"""Dagster runs: heartbeats, orphaned runs, pools, Ray and Kubernetes launchers."""
