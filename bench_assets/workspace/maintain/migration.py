"""``bench home migrate``: copies responses to the database that ``[storage]`` names, and back.

Tables and images are made again from responses and sources, without a request.
"""

from bench_assets.core.schema.errors import SettingsError
from bench_assets.workspace.console.output import print_message
from bench_resources.config.bench_toml import Settings
from bench_resources.config.stores import open_response_file, open_response_store
from bench_resources.response_cache.store import MergeResult, merge_into


def migrate(settings: Settings, *, back: bool) -> MergeResult:
    """Copy a home's responses to the database or, with ``back``, from it; the originals stay.

    Raises:
        SettingsError: If no database is configured.
        HomeError: If a store cannot be read or written. Copies made so far stay: run it again to
            continue.
    """
    if not settings.storage.variable:
        raise SettingsError(
            f"{settings.file}: no database is configured. Set [storage]"
            ' database = "env:NAME", with the environment variable that holds its address'
            " (docs/cluster.md)"
        )
    shared, file = open_response_store(settings), open_response_file(settings)
    target, source = (file, shared) if back else (shared, file)
    return merge_into(
        target, source, lambda n: print_message(f"{n} responses are in {target.place}")
    )
