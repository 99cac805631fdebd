"""Commands of bench, one file per word of `bench --help`."""
