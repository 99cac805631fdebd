"""``bench``: the command line over the same assets and functions as the UI."""
