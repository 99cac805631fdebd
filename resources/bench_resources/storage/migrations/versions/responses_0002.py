"""Add the column ``served``: the model, snapshot and build that answered."""

import sqlalchemy as sa
from alembic import op

revision = "responses_0002"
down_revision = "responses_0001"
branch_labels = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("responses", sa.Column("served", sa.Text))
