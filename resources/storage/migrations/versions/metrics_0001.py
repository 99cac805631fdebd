"""Metrics are indexed from now on; ``schema`` makes the tables."""

revision = "metrics_0001"
down_revision = None
branch_labels = ("metrics",)


def upgrade() -> None:
    """There were none."""
