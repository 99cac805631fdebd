"""Evaluations of commands: whole suites, subsets, recorded responses, cost and power."""
