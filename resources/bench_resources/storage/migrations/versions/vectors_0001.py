"""First revision of the vectors; ``schema`` creates their tables."""

revision = "vectors_0001"
down_revision = None
branch_labels = ("vectors",)


def upgrade() -> None:
    """Do nothing: no older version had a revision."""
