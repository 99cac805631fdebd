"""Audit checks: whether a benchmark's key, items, images and judge can be trusted."""
