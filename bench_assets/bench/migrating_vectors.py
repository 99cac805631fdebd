"""The part of ``bench migrate`` that takes vectors over."""

from resources.home.vector_merging import MergedVectors, merge_vectors
from resources.home.vectors import VectorStore
from resources.settings.bench_toml import Settings
from resources.settings.stores import vectors_file, vectors_of


def migrate_vectors(settings: Settings, *, back: bool) -> MergedVectors | None:
    """Take the vectors of a home over; whence they come, they stay.

    Args:
        settings: The home's, which name a database.
        back: From the database into the home's file.

    Returns:
        None where the home never had any.

    Raises:
        HomeError: If the file or the database cannot be read or written.
    """
    file = vectors_file(settings)
    if not back and not file.exists():
        return None
    here, shared = VectorStore(file), vectors_of(settings)
    return merge_vectors(here, shared) if back else merge_vectors(shared, here)
