"""Opens the annotation backend of ``[annotation]``."""

from bench_assets.annotation.tasks import AnnotationBackend
from bench_resources.annotation.files import FileBackend
from bench_resources.annotation.web.backend import PagesBackend
from bench_resources.annotation.web.store import pages_store
from bench_resources.config.bench_toml import Settings


def open_annotation_backend(settings: Settings) -> AnnotationBackend:
    """Open the annotation backend; reads and writes nothing yet."""
    if settings.annotation.kind == "pages":
        return PagesBackend(pages_store(settings.home))
    return FileBackend(settings.home / "annotation")
