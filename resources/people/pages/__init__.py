"""Pages of the project's own in which people answer: a small server over one SQLite file."""
