"""Shortcuts to the key that need no image: letters, wording, file metadata, leaks, blind runs."""
