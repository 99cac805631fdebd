"""Local checkpoints through transformers."""
