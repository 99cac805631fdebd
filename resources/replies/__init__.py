"""What runs a model, what was replied, and how fast."""
