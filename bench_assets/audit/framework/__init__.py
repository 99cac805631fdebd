"""Evidence, findings and significance tests that all audit checks share."""
