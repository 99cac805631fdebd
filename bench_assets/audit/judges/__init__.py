"""Agreement of judges with people."""
