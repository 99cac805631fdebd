"""The image store, generated images and previews."""
