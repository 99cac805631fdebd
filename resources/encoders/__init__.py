"""Models that make vectors of texts and of pictures."""
