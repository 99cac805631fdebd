"""HTTP errors, backoff and the event loop, shared by clients."""
