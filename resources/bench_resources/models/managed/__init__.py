"""Servers that bench starts, finds and ends."""
