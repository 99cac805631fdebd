"""The local engine: a checkpoint loaded by transformers, asked in batches."""
