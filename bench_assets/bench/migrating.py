"""What ``bench migrate`` does: takes replies into the database that homes share, or back."""

from bench_assets.bench.printing import say
from bench_assets.core.errors import SettingsError
from resources.replies.merging import Merged, merge_into
from resources.replies.store import ReplyStore
from resources.settings.bench_toml import Settings
from resources.settings.stores import replies_of


def migrate(settings: Settings, *, back: bool) -> Merged:
    """Take the replies of a home over; whence they come, they stay.

    Args:
        settings: The home's, which name a database.
        back: From the database into the home's file.

    Raises:
        SettingsError: If none is named.
        HomeError: If the file or the database cannot be read or written.
    """
    if not settings.storage.variable:
        raise SettingsError(
            f'{settings.file}: no database is named; [storage] says database = "env:NAME", with the'
            " environment variable that holds its address (docs/cluster.md)"
        )
    shared = replies_of(settings)
    file = ReplyStore(settings.replies_file)
    target, source = (file, shared) if back else (shared, file)
    return merge_into(target, source, lambda n: say(f"{n} replies are in {target.place}"))
