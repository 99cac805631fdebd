"""Files, SQLite and PostgreSQL access, file digests, atomic writes."""
