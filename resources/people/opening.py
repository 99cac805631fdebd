"""Opens what people answer in, as ``[people]`` of bench.toml says."""

from bench_assets.core.errors import SettingsError
from bench_assets.people.port import People
from resources.people.files import FilePeople
from resources.people.pages.asking import PagesPeople
from resources.people.pages.store import pages_store
from resources.pictures.opening import images_of
from resources.settings.bench_toml import Settings
from resources.settings.environment import secret


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
    from resources.people.label_studio.client import LabelStudio
    from resources.people.label_studio.studio import LabelStudioPeople
    from resources.people.label_studio.tokens import checked_address

    people = settings.people
    try:
        url = checked_address(people.url)
        if not people.token_env:
            raise SettingsError("token_env should name the environment variable with a token")
        token = secret(people.token_env)
    except SettingsError as why:
        raise SettingsError(f"{settings.file}, [people]: {why}") from None
    pictures = images_of(settings).place
    return LabelStudioPeople(LabelStudio(url, token), people.names, settings.home, pictures)
