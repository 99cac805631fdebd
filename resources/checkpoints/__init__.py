"""Checkpoint folders: completeness, identity, quantization, training layouts."""
