"""HTTP errors, backoff, allowed hosts and the event loop, shared by all clients."""
