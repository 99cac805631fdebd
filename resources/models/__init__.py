"""Chat models and judges by name: opened for an evaluation, or tried out."""
