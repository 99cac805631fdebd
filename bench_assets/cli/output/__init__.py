"""Terminal views of results."""
