"""A number once more: evaluated again from what is known, or packed so that others can do so."""
