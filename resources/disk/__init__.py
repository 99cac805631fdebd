"""Files on a disk that may be full, read-only or damaged: whole or not at all, and said so."""
