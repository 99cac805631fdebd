"""Multimodal chain of thought (section 3.4)."""
