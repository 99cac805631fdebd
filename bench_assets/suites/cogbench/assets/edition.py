"""Which edition the questions belong to."""

from bench_assets.core.rows import Edition
from bench_assets.suites.cogbench.source import find_release
from resources.sources.source_files import Source

_SAMPLES = 5  # pictures that the authors show in their repository; the full set is 251


def edition_of(opened: Source, n_pictures: int) -> Edition:
    """Name the edition; that of the authors' samples is ``"own"``.

    Numbers of different editions are not comparable, and only the published one is held against
    the paper's counts.
    """
    if opened.is_mini:
        return "mini"
    edition = find_release(opened.folder).edition
    return "own" if edition == "published" and n_pictures == _SAMPLES else edition
