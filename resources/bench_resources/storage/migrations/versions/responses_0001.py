"""First revision of the responses; ``schema`` creates their tables."""

revision = "responses_0001"
down_revision = None
branch_labels = ("responses",)


def upgrade() -> None:
    """Do nothing: no older version had a revision."""
