"""Chat models: local, servers, provider batches."""
