"""Texts for a picture and pictures for a text, among look-alikes (section 3.3)."""
