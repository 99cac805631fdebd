"""Where a home's replies are: in its own file, or in the database that its bench.toml names."""

from resources.replies.port import Replies
from resources.replies.store import ReplyStore
from resources.settings.bench_toml import Settings, secret


def replies_of(settings: Settings) -> Replies:
    """What remembers replies; a file is made where there is none.

    Raises:
        SettingsError: If a database is named and its address cannot be used.
        HomeError: If the file or the database cannot be.
    """
    if not (variable := settings.storage.variable):
        return ReplyStore(settings.replies_file)
    from resources.database.postgres import Database
    from resources.replies.shared_store import SharedReplies

    return SharedReplies(Database(secret(variable), variable))


def remembered_replies(settings: Settings) -> Replies | None:
    """The same; None where no file was ever made, and none is made."""
    if settings.storage.variable or settings.replies_file.is_file():
        return replies_of(settings)
    return None
