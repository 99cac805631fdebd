"""Proofs: comparisons with the files of other people, and the pages with their results.

``make proofs FILES=folder`` reads checkouts of the repositories in ``benchmarks.py``, writes
docs/known-benchmarks.md and docs/proofs.md, and freezes the points of each response.
"""
