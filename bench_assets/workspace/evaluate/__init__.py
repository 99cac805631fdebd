"""Evaluations outside the graph.

Subsets, dry runs, external responses, audits, option permutations, power, reproduction.
"""
