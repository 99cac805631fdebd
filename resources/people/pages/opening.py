"""Opens the pages of a home folder, as ``[people]`` of bench.toml says."""

from bench_assets.core.errors import SettingsError
from resources.people.pages.server import Setup
from resources.people.pages.store import pages_store
from resources.pictures.opening import images_of
from resources.settings.bench_toml import Settings


def require_pages(settings: Settings) -> None:
    """See that people answer in pages.

    Raises:
        SettingsError: If they do in something else.
    """
    if settings.people.kind != "pages":
        raise SettingsError(
            f'{settings.file}, [people]: kind is "{settings.people.kind}"; these pages need'
            ' kind = "pages"'
        )


def setup_of(settings: Settings) -> Setup:
    """What the pages of a home are made over.

    Raises:
        SettingsError: If people answer in something else.
    """
    require_pages(settings)
    return Setup(
        store=pages_store(settings.home),
        images=images_of(settings).place,
        url=settings.people.url,
        terms={name: one.terms for name, one in settings.people.forms.items()},
    )
