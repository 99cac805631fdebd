"""Position bias, parsing coverage and rank stability."""
