"""Things to learn from and to try the project with; not part of it."""
