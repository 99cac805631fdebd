"""Item statistics, item response theory, wrong keys, duplicates, contamination, annotators."""
