"""Dagster assets of BLINK: questions, ablations, studies, submission."""
