"""The built route of BLINK: recipes, sampling, marked points."""
