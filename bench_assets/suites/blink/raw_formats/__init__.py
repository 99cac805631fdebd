"""Readers of the raw data sets: image folders, pickles, point pairs."""
