"""Atomic writes, file digests, locks and leases, SQLite and PostgreSQL access."""
