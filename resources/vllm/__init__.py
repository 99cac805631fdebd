"""The engine that hands checkpoints to vLLM."""
