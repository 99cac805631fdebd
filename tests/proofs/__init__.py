"""Proofs: what was held against the files of others, and the pages that say so.

``make proofs FILES=folder`` reads checkouts of the repositories in ``benchmarks.py``, writes
docs/known-benchmarks.md and docs/proofs.md, and freezes the points of each response.
"""
