"""Numbers without a model: constant and shuffled responses."""
