"""External state: models, caches, tables, images, storage, runs, configuration."""
