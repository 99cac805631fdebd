"""Audit checks: whether a benchmark's key, items, images, judge and parser can be trusted."""
