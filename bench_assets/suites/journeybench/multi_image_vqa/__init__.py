"""Multi-image visual question answering (section 3.5)."""
