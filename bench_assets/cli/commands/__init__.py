"""Commands, one file per group."""
