"""Means and intervals, paired and sequential tests, power, rater agreement, jackknife, ranks."""
