"""Annotation of model responses: verdicts, people as test takers."""
