"""Vectors of version 0.1 get the schema that SQLite and PostgreSQL share."""

from alembic import op

revision = "vectors_0001"
down_revision = None
branch_labels = ("vectors",)


def upgrade() -> None:
    """Rename the table in PostgreSQL; SQLite has it already."""
    if op.get_bind().dialect.name == "postgresql":
        op.rename_table("bench_vectors", "vectors")
