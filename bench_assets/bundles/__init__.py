"""Bundles: a number with all its inputs, packed, verified and reproduced."""
