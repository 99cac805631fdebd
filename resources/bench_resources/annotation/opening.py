"""Opens the annotation backend of ``[annotation]``."""

from bench_assets.annotation.tasks import AnnotationBackend
from bench_assets.core.schema.errors import SettingsError
from bench_resources.annotation.files import FileBackend
from bench_resources.annotation.web.backend import PagesBackend
from bench_resources.annotation.web.store import pages_store
from bench_resources.config.bench_toml import Settings
from bench_resources.config.environment import read_secret
from bench_resources.images.store import open_image_store


def open_annotation_backend(settings: Settings) -> AnnotationBackend:
    """Open the annotation backend, without a request.

    Raises:
        SettingsError: If the section lacks what its kind needs.
    """
    if settings.annotation.kind == "pages":
        return PagesBackend(pages_store(settings.home))
    if settings.annotation.kind == "label-studio":
        return _open_label_studio(settings)
    return FileBackend(settings.home / "annotation")


def _open_label_studio(settings: Settings) -> AnnotationBackend:
    from bench_resources.annotation.label_studio.backend import LabelStudioBackend
    from bench_resources.annotation.label_studio.client import LabelStudio, validate_address

    people = settings.annotation
    try:
        url = validate_address(people.url)
        if not people.token_env:
            raise SettingsError(
                "token_env is empty. Set it to the name of the variable with the token"
            )
        token = read_secret(people.token_env)
    except SettingsError as error:
        raise SettingsError(f"{settings.file}, [annotation]: {error}") from None
    images = open_image_store(settings).place
    return LabelStudioBackend(LabelStudio(url, token), people.names, settings.home, images)
