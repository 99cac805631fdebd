"""Shared parts of commands: opening a home, error messages, options, templates."""
