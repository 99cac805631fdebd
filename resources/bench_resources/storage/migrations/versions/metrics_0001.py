"""First revision of the metrics index; ``schema`` creates its tables."""

revision = "metrics_0001"
down_revision = None
branch_labels = ("metrics",)


def upgrade() -> None:
    """Do nothing: no older version had a revision."""
