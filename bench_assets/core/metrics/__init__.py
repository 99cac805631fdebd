"""Measures that compare what a model said with what people wrote, one file each."""
