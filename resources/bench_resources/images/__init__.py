"""The image store, image downloads, generation and previews."""
