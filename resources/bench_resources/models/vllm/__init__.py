"""Local checkpoints through vLLM."""
