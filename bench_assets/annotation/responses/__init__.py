"""Annotation of model responses: verdicts, error analysis."""
