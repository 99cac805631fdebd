"""Cross-modal retrieval with sample-specific distractors (section 3.3)."""
