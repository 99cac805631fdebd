"""bench.toml and the environment, loaded and validated."""
