"""Evaluations beside the graph: subsets, dry runs, external responses, audits, reproduction."""
