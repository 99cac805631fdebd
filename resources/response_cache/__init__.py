"""The response cache: caching model, SQLite and PostgreSQL stores, validation, leases."""
