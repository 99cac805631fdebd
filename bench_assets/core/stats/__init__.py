"""Means and intervals, paired tests, power, rater agreement, jackknife, ranks."""
