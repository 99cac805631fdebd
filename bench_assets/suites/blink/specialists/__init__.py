"""Specialist computer-vision models as baselines (section 4.2)."""
