"""What a user configures in ``bench.toml``, section by section."""
