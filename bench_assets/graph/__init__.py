"""The whole graph: what holds between its tables, and what lies at its end."""
