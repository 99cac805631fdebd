"""Data of each page of the report."""
