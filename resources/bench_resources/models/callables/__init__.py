"""Models that are Python functions of this process."""
