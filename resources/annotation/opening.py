"""Opens the annotation backend of ``[people]``."""

from bench_assets.annotation.tasks.backend import People
from bench_assets.core.schema.errors import SettingsError
from resources.annotation.files import FilePeople
from resources.annotation.web.backend import PagesPeople
from resources.annotation.web.store import pages_store
from resources.config.bench_toml import Settings
from resources.config.environment import read_secret
from resources.images.opening import open_image_store


def open_people(settings: Settings) -> People:
    """Open what people answer in; nothing is asked of it yet.

    Raises:
        SettingsError: If the section lacks what its kind needs.
    """
    if settings.people.kind == "pages":
        return PagesPeople(pages_store(settings.home))
    if settings.people.kind == "label-studio":
        return _label_studio(settings)
    return FilePeople(settings.home / "people")


def _label_studio(settings: Settings) -> People:
    from resources.annotation.label_studio.backend import LabelStudioPeople
    from resources.annotation.label_studio.client import LabelStudio, checked_address

    people = settings.people
    try:
        url = checked_address(people.url)
        if not people.token_env:
            raise SettingsError("token_env should name the environment variable with a token")
        token = read_secret(people.token_env)
    except SettingsError as why:
        raise SettingsError(f"{settings.file}, [people]: {why}") from None
    images = open_image_store(settings).place
    return LabelStudioPeople(LabelStudio(url, token), people.names, settings.home, images)
