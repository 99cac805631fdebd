"""The response cache: its store, the caching model, validation of responses."""
