"""Reads pictures with the texts that describe them, and look-alikes that do not (section 3.3)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from bench_assets.core.json_entries import Entry, field
from bench_assets.suites.journeybench.captioning.source import split_captions
from bench_assets.suites.journeybench.source import name_of, read_records, text, texts


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalSample:
    """A picture, what describes it, and what only seems to."""

    entry_id: str
    picture: str  # its address, or its file name where the edition is built here
    texts: tuple[str, ...] = ()  # right answers when the picture is asked with
    text_distractors: tuple[str, ...] = ()
    captions: tuple[str, ...] = ()  # what is asked with when the picture is the answer
    image_distractors: tuple[str, ...] = ()  # pictures, as ``picture`` names them


def read_samples(files: Mapping[str, Path]) -> list[RetrievalSample]:
    """Read the published tables there are, in the order in which pictures first come up.

    The release has them apart: 5,740 texts and 5,590 distractors, one a row, and 1,000 rows with
    captions and distracting pictures. The site has one row a picture with all of it.

    Args:
        files: The published files of a source folder, by table.

    Raises:
        SourceError: If a row has no address; names file and row.
    """
    samples: dict[str, RetrievalSample] = {}
    for table in ("retrieval", "text_positives", "text_negatives", "image_distractors"):
        for entry, where in read_records(files[table]) if table in files else ():
            picture = field(entry, "url", str, where).strip()
            known = samples.get(picture) or _empty(picture)
            samples[picture] = _with(known, table, entry, where)
    return list(samples.values())


def _empty(picture: str) -> RetrievalSample:
    return RetrievalSample(entry_id=name_of(picture), picture=picture)


def _with(sample: RetrievalSample, table: str, entry: Entry, where: str) -> RetrievalSample:
    match table:
        case "text_positives":
            return replace(sample, texts=_more(sample.texts, [text(entry, "hypothesis", where)]))
        case "text_negatives":
            said = [text(entry, "hypothesis", where)]
            return replace(sample, text_distractors=_more(sample.text_distractors, said))
    written = texts(entry, "captions")
    captions = split_captions(written[0]) if len(written) == 1 else written
    looks_like = texts(entry, "distractor_url") + texts(entry, "image_distractor_url")
    found = replace(
        sample,
        captions=_more(sample.captions, captions),
        image_distractors=_more(sample.image_distractors, looks_like),
    )
    if table == "image_distractors":
        return found
    return replace(
        found,
        texts=_more(sample.texts, captions),
        text_distractors=_more(sample.text_distractors, texts(entry, "text_distractors")),
    )


def _more(known: tuple[str, ...], new: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*known, *(item for item in new if item)]))
