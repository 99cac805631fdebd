"""Rules that read which of two possible answers a response names."""
