"""What touches the world: models, caches, tables, images, storage, runs, configuration."""
