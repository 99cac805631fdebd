"""Shared parts of commands: opening a home, error messages, options, completion, templates."""
