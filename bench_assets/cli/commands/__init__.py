"""Commands of bench, one file per entry of `bench --help`."""
