"""Replicas of a model on a Ray cluster."""
