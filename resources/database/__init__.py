"""PostgreSQL, where bench.toml names one: how it is reached, and what is said of it."""
