"""Image decoding, drawing, near-duplicates, charts and synthetic scenes."""
