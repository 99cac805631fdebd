"""Atomic writes, file digests, locks and leases, cached vectors, SQLite and PostgreSQL access."""
