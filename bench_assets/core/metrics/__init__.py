"""Text and retrieval metrics: BLEU, ROUGE-L, CIDEr, recall at k, short answers."""
