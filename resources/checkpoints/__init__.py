"""Checkpoints as they lie on a disk or a hub: what is there, and what tells one from another."""
