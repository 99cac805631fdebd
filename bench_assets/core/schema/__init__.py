"""Rows, chat and encoder ports, signatures, response validation, and the error tree."""
