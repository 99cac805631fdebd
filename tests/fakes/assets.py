"""Assets that a test calls as functions."""
