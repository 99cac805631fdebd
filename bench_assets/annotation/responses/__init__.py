"""Annotation of model responses: verdicts, preferences, error analysis."""
