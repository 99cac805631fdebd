"""One table of leases replaces the five of version 0.1."""

import sqlalchemy as sa
from alembic import op

revision = "leases_0001"
down_revision = None
branch_labels = ("leases",)

_BEFORE = ("askings", "claims", "heartbeats", "locks", "servers", "versions")


def upgrade() -> None:
    """Create the table."""
    for name in _BEFORE:
        op.execute(f"DROP TABLE IF EXISTS bench_{name}")
    op.create_table(
        "leases",
        sa.Column("key", sa.Text(collation="C"), primary_key=True),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("until", sa.Double, nullable=False),
    )
