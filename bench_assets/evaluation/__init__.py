"""Task and Suite, the pipeline (predict, judge, score, aggregate), blind baselines, extensions."""
