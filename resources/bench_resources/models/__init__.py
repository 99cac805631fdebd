"""Chat models: local, and behind servers."""
