"""Position bias, scorer sensitivity, parsing coverage and rank stability."""
