"""Opens the pages of a home folder, as ``[annotation]`` of bench.toml says."""

from bench_assets.core.schema.errors import SettingsError
from resources.annotation.web.server import Setup
from resources.annotation.web.store import pages_store
from resources.config.bench_toml import Settings
from resources.images.opening import open_image_store


def require_pages(settings: Settings) -> None:
    """See that people answer in pages.

    Raises:
        SettingsError: If they do in something else.
    """
    if settings.annotation.kind != "pages":
        raise SettingsError(
            f'{settings.file}, [annotation]: kind is "{settings.annotation.kind}"; these pages need'
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
        images=open_image_store(settings).place,
        url=settings.annotation.url,
        terms={name: one.terms for name, one in settings.annotation.tasks.items()},
    )
