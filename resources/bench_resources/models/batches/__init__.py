"""Provider batch APIs."""
