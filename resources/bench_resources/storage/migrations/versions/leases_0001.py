"""First revision of the leases; ``schema`` creates their tables."""

revision = "leases_0001"
down_revision = None
branch_labels = ("leases",)


def upgrade() -> None:
    """Do nothing: no older version had a revision."""
