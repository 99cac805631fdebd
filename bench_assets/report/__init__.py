"""The report: what was measured, as a site that opens from disk, without server or network."""
