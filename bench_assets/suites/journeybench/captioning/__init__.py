"""Imaginary image captioning."""
