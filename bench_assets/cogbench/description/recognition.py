"""The Recognition Score of section 3.2: which annotated entities a description names.

An entity is recognised if the cosine between it and any noun of the description is above a
threshold. The score is the share of all entities of all pictures that are recognised: a micro mean.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from bench_assets.cogbench.description.questions import entities
from bench_assets.core.embedding import TextEncoder
from bench_assets.core.stats import Mean, Point, mean
from bench_assets.task import Answered

THRESHOLD = 0.6
"""The paper's; a cosine has to be above it, equal is not enough."""

_TIE = 1e-6  # cosines that differ by less are equal: batches differ in the last digit


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityMatch:
    """One annotated entity, and the noun of a description that comes closest to it."""

    question_id: str
    model: str
    condition: str
    sample: int
    image_id: str
    entity: str
    noun: str  # "" if the description has no nouns
    cosine: float  # NaN if it has none
    n_closest: int  # nouns that come as close; more than one is a tie
    recognised: bool
    recogniser: str  # pipeline, encoder and threshold, for signatures


def match_entities(
    answered: Sequence[Answered],
    nouns: Sequence[Sequence[str]],
    encoder: TextEncoder,
    threshold: float = THRESHOLD,
    noun_finder: str = "",
) -> list[EntityMatch]:
    """Compare the entities of each picture with the nouns of its description, in order.

    Each distinct entity and noun is embedded once.

    Args:
        answered: Descriptions of pictures.
        nouns: Those of each description.
        encoder: Embeds entities and nouns.
        threshold: Of the cosine.
        noun_finder: What found the nouns.
    """
    texts = [text for pair in answered for text in entities(pair.question)]
    texts += [noun for said in nouns for noun in said]
    rows = {text: row for row, text in enumerate(dict.fromkeys(texts))}
    vectors = encoder.encode_texts(list(rows))
    recogniser = f"nouns:{noun_finder}|encoder:{encoder.name}|above:{threshold:g}"
    return [
        match
        for pair, said in zip(answered, nouns, strict=True)
        for wanted in [entities(pair.question)]
        for cosines in [vectors[[rows[e] for e in wanted]] @ vectors[[rows[n] for n in said]].T]
        for entity, row in zip(wanted, cosines, strict=True)
        for match in [_match(pair, entity, said, row.tolist(), threshold, recogniser)]
    ]


def recognition(matches: Sequence[EntityMatch]) -> Mean:
    """Recognised entities of all pictures by all entities, as in Table 2."""
    return mean(Point(float(match.recognised), match.image_id) for match in matches)


def recognition_macro(matches: Sequence[EntityMatch]) -> Mean:
    """Mean over pictures of the share of their entities; the authors' script prints it as well."""
    by_picture: dict[tuple[str, int], list[float]] = defaultdict(list)
    for match in matches:
        by_picture[match.image_id, match.sample].append(match.recognised)
    return mean(Point(float(np.mean(shares)), name) for (name, _), shares in by_picture.items())


def recognition_official(matches: Sequence[EntityMatch]) -> Mean:
    """As the authors' script has it: an entity to which k nouns are equally close counts k times.

    Ties are rare, but the value may exceed 1; it has no interval.
    """
    hits = sum(match.n_closest for match in matches if match.recognised)
    return Mean(hits / len(matches) if matches else nan, nan, nan, len(matches), 0)


MEASURES = {
    "recognition": recognition,
    "recognition_macro": recognition_macro,
    "recognition_official": recognition_official,
}


def _match(
    pair: Answered,
    entity: str,
    nouns: Sequence[str],
    cosines: Sequence[float],
    threshold: float,
    recogniser: str,
) -> EntityMatch:
    highest = max(cosines, default=nan)
    return EntityMatch(
        question_id=pair.prediction.question_id,
        model=pair.prediction.model,
        condition=pair.prediction.condition,
        sample=pair.prediction.sample,
        image_id=pair.question.group_id,
        entity=entity,
        noun=nouns[cosines.index(highest)] if nouns else "",
        cosine=highest,
        n_closest=sum(highest - cosine < _TIE for cosine in cosines),
        recognised=bool(highest > np.float32(threshold)),  # as NumPy compares single precision
        recogniser=recogniser,
    )
