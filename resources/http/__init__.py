"""HTTP errors, retries and backoff, shared by all clients."""
