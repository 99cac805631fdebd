"""Text and image encoders, part-of-speech tagging, entailment, METEOR."""
