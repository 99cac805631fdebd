"""Request and response formats of each API."""
