"""Whole pieces of bytes under names: files of a folder, or objects of a store that homes share."""
