"""Questions over two pictures: arithmetic, external knowledge, cause and effect (3.5)."""
