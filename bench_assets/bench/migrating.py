"""What ``bench migrate`` does: takes a home over into what [storage] names, or back."""

from collections.abc import Iterator

from bench_assets.bench.migrating_blobs import migrate_blobs
from bench_assets.bench.migrating_vectors import migrate_vectors
from bench_assets.bench.moved import Moved
from bench_assets.bench.printing import say
from bench_assets.core.errors import HomeError, SettingsError
from resources.home.locks import holders
from resources.replies.merging import merge_into
from resources.replies.store import ReplyStore
from resources.settings.bench_toml import Settings
from resources.settings.stores import replies_of


def migrate(settings: Settings, *, back: bool) -> list[Moved]:
    """Take replies and vectors, pictures and tables over; whence they come, they stay.

    Args:
        settings: The home's, which name a database, objects, or both.
        back: From there into the home.

    Raises:
        SettingsError: If none is named.
        HomeError: If something runs on the home; if a place cannot be read or written. What was
            taken over before stays there: begun again, it goes on.
    """
    storage = settings.storage
    if not (storage.variable or storage.objects):
        raise SettingsError(
            f"{settings.file}: nothing is named that homes share; [storage] says"
            ' database = "env:NAME", with the environment variable that holds its address, or'
            ' objects = "s3://bucket/prefix" (docs/cluster.md)'
        )
    if busy := holders(settings.home / "locks"):
        raise HomeError(f"{settings.home}: {busy[0]} works on it: end that first, or wait for it")
    moved = [*_replies(settings, back=back)] if storage.variable else []
    return [*moved, *(migrate_blobs(settings, back=back) if storage.objects else ())]


def _replies(settings: Settings, *, back: bool) -> Iterator[Moved]:
    if vectors := migrate_vectors(settings, back=back):
        yield Moved(
            what="vectors",
            n=vectors.vectors,
            new=None,
            left_out=vectors.left_out,
            kept=0,
            source=vectors.source,
            target=vectors.target,
        )
    shared, file = replies_of(settings), ReplyStore(settings.replies_file)
    target, source = (file, shared) if back else (shared, file)
    merged = merge_into(target, source, lambda n: say(f"{n} replies are in {target.place}"))
    for what, n, left_out in (
        ("replies", merged.replies, merged.left_out),
        ("prompts", merged.prompts, 0),
    ):
        yield Moved(
            what=what,
            n=n,
            new=None,
            left_out=left_out,
            kept=0,
            source=merged.source,
            target=merged.target,
        )
