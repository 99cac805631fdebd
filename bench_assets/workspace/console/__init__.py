"""Terminal output, progress bars and signals."""
