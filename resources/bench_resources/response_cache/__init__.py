"""The response cache: port, SQLite and PostgreSQL stores, caching model, validation, upkeep."""
