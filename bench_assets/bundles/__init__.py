"""Bundles: one number with everything it takes, packed, verified and reproduced."""
