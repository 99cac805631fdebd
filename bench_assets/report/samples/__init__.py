"""Data of the sample browser: questions, outcomes, responses."""
