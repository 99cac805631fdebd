"""CogBench: what a model understands of the story that a picture tells."""
