"""How unlike other collections the pictures are: a map, and what common sense knows (4.4)."""
