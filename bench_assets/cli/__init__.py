"""The bench command line."""
