"""Complementary multimodal chain of thought: arithmetic that needs picture and text (3.4)."""
