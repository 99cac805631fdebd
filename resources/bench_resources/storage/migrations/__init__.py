"""Alembic revisions that bring older databases of stores forward."""
