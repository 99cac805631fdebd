"""Comparison of two evaluations: units, paired tests, causes of a change, mean ranks."""
