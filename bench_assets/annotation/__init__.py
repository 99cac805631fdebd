"""Annotation by people, without a user interface: tasks, answers and verdicts on responses."""
