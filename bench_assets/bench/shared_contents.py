"""What ``bench home`` shows of objects that homes share."""

from collections.abc import Iterator

from bench_assets.bench.home_contents import Kept
from resources.settings.bench_toml import Settings
from resources.settings.stores import blobs_of

_PARTS = {
    "tables": ("tables of all homes", "bench remove MODEL: a model's, from all of them"),
    "images": ("pictures, by the digest of their bytes", ""),
    "painted": ("which picture was painted for which prompt", ""),
    "export": ("the leaderboard for others", ""),
    "replaced": ("tables that newer ones took the place of at bench migrate", ""),
}


def shared(settings: Settings) -> list[Kept]:
    """List what lies in the objects that bench.toml names, the largest first; nothing without.

    Raises:
        HomeError: If they cannot be reached.
    """
    found = list(_parts(settings)) if settings.storage.objects else []
    return sorted(found, key=lambda one: (-one.megabytes, one.what))


def _parts(settings: Settings) -> Iterator[Kept]:
    for part, (about, goes) in _PARTS.items():
        blobs = blobs_of(settings, part)
        sizes = [one.size for one in blobs.list()]
        if sizes:
            yield Kept(
                what=f"shared {part}",
                about=about,
                n_files=len(sizes),
                megabytes=round(sum(sizes) / 1e6, 1),
                path=blobs.place,
                goes=goes,
            )
