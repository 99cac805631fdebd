"""Text and image encoders, part-of-speech tagging, METEOR."""
