"""The Recognition Score (section 3.2): the share of annotated entities that descriptions name.

An entity is recognised if its cosine with any noun of the description is above a threshold; the
score is a micro mean over all images.

The official scorer takes all nouns and 0.6. The careful one has a threshold for each encoder, and
ignores nouns that the description denies ("There is no boy") and opposites ("girl" for "boy"). The
threshold is chosen on one half of ``entity_pairs.txt``: the lowest one that at most one in twenty
wrong nouns exceeds. The README has its recall and false positives on the other half.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from math import inf, nan
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench_assets.core.schema.chat import TextEncoder
from bench_assets.core.schema.rows import Question
from bench_assets.core.stats.means import Mean, ScoredPoint, delta_method_interval, mean
from bench_assets.evaluation.baselines.constant_responses import composed_texts
from bench_assets.evaluation.task import AnsweredQuestion
from bench_assets.suites.cogbench.construction.merging import contradiction
from bench_assets.suites.cogbench.description.questions import entities

THRESHOLD = 0.6
"""Threshold of the paper and of the official scorer; a cosine has to be above it."""

_N_COMMON_ENTITIES = 20  # entities of a constant description
_TIE = 1e-6  # cosines that differ by less are equal: the last digit depends on the batch


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityMatch:
    """An annotated entity, and the closest noun of a description."""

    question_id: str
    model: str
    condition: str
    sample: int
    image_id: str
    entity: str
    noun: str  # the closest of all; "" if the description has no nouns
    cosine: float  # NaN if it has none
    n_closest: int  # nouns that are equally close; more than one is a tie
    recognised_officially: bool
    careful_noun: str  # the closest one, neither denied nor an opposite; "" for none
    recognised: bool
    recogniser: str  # pipeline, encoder and threshold, for signatures


class _Candidate(NamedTuple):
    """A noun of a description that may name an entity."""

    noun: str
    cosine: float  # with the entity


def match_entities(
    answered: Sequence[AnsweredQuestion],
    nouns: Sequence[Sequence[str]],
    encoder: TextEncoder,
    *,
    affirmed: Sequence[Sequence[str]],
    threshold: float = THRESHOLD,
    recogniser: str = "",
) -> list[EntityMatch]:
    """Compare the entities of each image with the nouns of its description, in order.

    Each distinct entity and noun is embedded once.

    Args:
        answered: Descriptions of images.
        nouns: All nouns of each description.
        encoder: Embeds entities and nouns.
        affirmed: The nouns of each description that it does not deny.
        threshold: Threshold of the careful scorer.
        recogniser: Noun finder, encoder and threshold, for signatures.
    """
    texts = [text for pair in answered for text in entities(pair.question)]
    texts += [noun for noun_list in (*nouns, *affirmed) for noun in noun_list]
    rows = {text: row for row, text in enumerate(dict.fromkeys(texts))}
    vectors = encoder.encode_texts(list(rows))
    matches = []
    for pair, pair_nouns, pair_affirmed in zip(answered, nouns, affirmed, strict=True):
        annotated = entities(pair.question)
        distinct = list(dict.fromkeys([*pair_nouns, *pair_affirmed]))
        entity_vectors = vectors[[rows[entity] for entity in annotated]]
        noun_vectors = vectors[[rows[noun] for noun in distinct]]
        cosines = np.minimum(entity_vectors @ noun_vectors.T, 1).tolist()
        for entity, entity_cosines in zip(annotated, cosines, strict=True):
            cosine_of = dict(zip(distinct, entity_cosines, strict=True))
            candidates = [_Candidate(noun, cosine_of[noun]) for noun in pair_nouns]
            consistent = [noun for noun in pair_affirmed if not contradiction(entity, noun)]
            careful = [_Candidate(noun, cosine_of[noun]) for noun in consistent]
            matches.append(_match(pair, entity, candidates, careful, threshold, recogniser))
    return matches


def recognition(matches: Sequence[EntityMatch]) -> Mean:
    """Share of all entities of all images that are recognised, as in Table 2."""
    return mean(ScoredPoint(float(match.recognised), match.image_id) for match in matches)


def recognition_macro(matches: Sequence[EntityMatch]) -> Mean:
    """Mean of the images' shares of recognised entities; the authors' script prints it, too."""
    recognised: dict[tuple[str, int], list[bool]] = defaultdict(list)
    for match in matches:
        recognised[match.image_id, match.sample].append(match.recognised)
    return mean(
        ScoredPoint(float(np.mean(flags)), image_id) for (image_id, _), flags in recognised.items()
    )


def recognition_official(matches: Sequence[EntityMatch]) -> Mean:
    """Recognition as in the authors' script: an entity with k equally close nouns counts k times.

    Ties are rare, but the value may exceed 1: its interval has no upper bound.
    """
    if not matches:
        return mean([])
    hits = [match.n_closest * match.recognised_officially for match in matches]
    value = sum(hits) / len(matches)
    influence: dict[str, float] = defaultdict(float)
    for match, n_hits in zip(matches, hits, strict=True):
        influence[match.image_id] += (n_hits - value) / len(matches)
    low, high = delta_method_interval(value, influence, top=inf, freedom=len(influence) - 1)
    return Mean(value=value, low=low, high=high, n_scored=len(matches), n_unscored=0)


MEASURES = {
    "recognition": recognition,
    "recognition_macro": recognition_macro,
    "recognition_official": recognition_official,
}


def constant_descriptions(questions: Sequence[Question]) -> list[str]:
    """Candidates for the best constant description: frequent entities, and composed texts."""
    frequencies = Counter(
        entity for question in questions for entity in dict.fromkeys(entities(question))
    )
    common = ", ".join(entity for entity, _ in frequencies.most_common(_N_COMMON_ENTITIES))
    return [common, *composed_texts([text for question in questions for text in question.answer])]


def _match(
    pair: AnsweredQuestion,
    entity: str,
    candidates: Sequence[_Candidate],
    careful_candidates: Sequence[_Candidate],
    threshold: float,
    recogniser: str,
) -> EntityMatch:
    no_noun = _Candidate("", nan)
    closest = max(candidates, key=attrgetter("cosine"), default=no_noun)
    careful = max(careful_candidates, key=attrgetter("cosine"), default=no_noun)
    return EntityMatch(
        question_id=pair.prediction.question_id,
        model=pair.prediction.model,
        condition=pair.prediction.condition,
        sample=pair.prediction.sample,
        image_id=pair.question.group_id,
        entity=entity,
        noun=closest.noun,
        cosine=closest.cosine,
        n_closest=sum(closest.cosine - candidate.cosine < _TIE for candidate in candidates),
        # Compared in single precision, as NumPy does.
        recognised_officially=bool(closest.cosine > np.float32(THRESHOLD)),
        careful_noun=careful.noun,
        recognised=bool(careful.cosine > np.float32(threshold)),
        recogniser=recogniser,
    )


_PHRASE_END = (
    r"(?=[.,;:!?]|$|\s(?:in|on|at|near|with|behind|under|beside|to|from|is|are|was|were|has|have"
    r"|that|who|which|but|and|because|as|so)\b)"
)
_NOUN_PHRASES = rf"[^.,;:!?]*?(?:, n?or\b[^.,;:!?]*?)?{_PHRASE_END}"
_NEGATIONS = (
    re.compile(
        r"(?:\bneither\b|\b(?:no|without)\b(?! (?:doubt|longer))(?:[^.;:!?]{0,200}?\bn?or\b)?"
        r"|(?:\bnot|n['’]t) (?:an?|any|one|the)\b"
        rf"|\b(?:absence|free) of\b|\black(?:s|ing)?\b){_NOUN_PHRASES}",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b[\w-]{1,40} (?:is|are|was|were) (?:absent|missing|nowhere"
        r"|not (?:there|visible|present|shown|seen|depicted))\b",
        re.IGNORECASE,
    ),
)


def remove_denied(description: str) -> str:
    """Remove things that a description denies; denied actions stay.

    >>> remove_denied("There is no boy in the room.").split()
    ['There', 'is', 'in', 'the', 'room.']
    >>> remove_denied("The man does not see the dog.")
    'The man does not see the dog.'
    """
    for pattern in _NEGATIONS:
        description = pattern.sub(" ", description)
    return description


MAX_FALSE_POSITIVES = 0.05  # share of the nouns for something else that are recognised
_PAIR_LINE = re.compile(r"^([+-]) ([^:\n]+): (.*)$", re.MULTILINE)
_PAIRS = Path(__file__).with_name("entity_pairs.txt")
KNOWN_THRESHOLDS = {("all-MiniLM-L6-v2@sha256:1796dd706fccb36d", "90af9910"): 0.6604}
"""Thresholds by encoder and digest of the pairs; any other is computed on use, in seconds."""


class _EntityPair(NamedTuple):
    """An annotated entity, a noun of a description, and whether the noun names the entity."""

    entity: str
    noun: str
    same: bool


class LabelledCosine(NamedTuple):
    """The cosine of an entity and a noun, and whether the noun names the entity."""

    cosine: float
    same: bool


def find_threshold(encoder: TextEncoder) -> tuple[float, str]:
    """The threshold of an encoder, chosen now if it is not known, and its text for signatures."""
    digest = sha256(_PAIRS.read_bytes()).hexdigest()[:8]
    threshold = KNOWN_THRESHOLDS.get((encoder.name, digest))
    if threshold is None:
        chosen_by = labelled_cosines(encoder)[::2]  # the other pairs test the threshold
        threshold = lowest_threshold(chosen_by)
    return threshold, f"{threshold:.4f} by pairs:{digest}"


def labelled_cosines(encoder: TextEncoder) -> list[LabelledCosine]:
    """Cosines of the pairs of ``entity_pairs.txt``, in order."""
    pairs = [
        _EntityPair(entity=entity, noun=noun, same=sign == "+")
        for sign, entity, nouns in _PAIR_LINE.findall(_PAIRS.read_text(encoding="utf-8"))
        for noun in nouns.split()
    ]
    entity_vectors = encoder.encode_texts([pair.entity for pair in pairs])
    noun_vectors = encoder.encode_texts([pair.noun for pair in pairs])
    cosines = (entity_vectors * noun_vectors).sum(axis=1).tolist()
    return [LabelledCosine(cosine, pair.same) for cosine, pair in zip(cosines, pairs, strict=True)]


def lowest_threshold(labelled: Sequence[LabelledCosine]) -> float:
    """Find the lowest cut that at most 5 % of wrong pairs exceed.

    A cut is half-way between two cosines, or the highest cosine.
    """
    cosines = sorted({pair.cosine for pair in labelled})
    cuts = [*((low + high) / 2 for low, high in pairwise(cosines)), cosines[-1]]
    wrong = [pair.cosine for pair in labelled if not pair.same]
    return next(
        cut
        for cut in cuts
        if sum(cosine > cut for cosine in wrong) / len(wrong) <= MAX_FALSE_POSITIVES
    )
