"""Text distractors: related statements that conflict with an image (section 3.3).

A model writes them from the captions (way a), or they come from a dialogue about the image (way b,
``dialogue``). Rules reject those that repeat a caption or follow from it; people verify the rest.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from bench_assets.core.schema.chat import Image, Prompt, TextEncoder
from bench_assets.core.tables.build import Table
from bench_assets.core.text.number_words import list_numbers
from bench_assets.suites.journeybench.raw_material import (
    StatementDecision,
    StatementVote,
    normalize_text,
    vote_fault,
)
from bench_assets.suites.journeybench.text_generation import (
    GeneratedText,
    format_list,
    proposals_of,
    text_fields,
)

_SAME = 0.97  # least cosine between a statement and a caption that it repeats
MAX_STATEMENTS = 6  # statements per image; 5 to 6 in the released data

_STATEMENT_PROMPT = """\
The picture is described by these captions:
{captions}

Write {n} statements that someone could take for true at first sight, but that conflict with the \
picture: change what is there, how many of it, what it looks like, where it is or what it does. \
Each conflicts in one detail and stays close to the captions in everything else.

Example: for "A fox in a raincoat reads a newspaper", write "A fox in a raincoat reads a menu", \
"A badger in a raincoat reads a newspaper", "Two foxes in raincoats read a newspaper".

Print a JSON list and nothing else: one object with the field "statement" for each of them."""

_VOTE_PHRASE = "find it in conflict"
_WORD = re.compile(r"[^\W_]+")
_EMPTY = frozenset(("a", "an", "the", "is", "are", "and", "it", "its", "there"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement that may conflict with its image."""

    statement_id: str  # the image, the way it was made, and a running number
    image: str
    text: str
    way: str  # "model" or "dialogue"
    request_id: str  # the response that has it
    writer: str
    prompt_sha256: str


class _NearestCaption(NamedTuple):
    """The image's caption that is most similar to a statement, and their cosine."""

    caption: str
    similarity: float


def statement_prompts(
    captions: Mapping[str, Sequence[str]], images: Mapping[str, str]
) -> dict[str, Prompt]:
    """Ask for statements about each image, which the model sees with its captions (way a)."""
    return {
        f"{image}/statements": Prompt.of(
            Image(images[image]),
            _STATEMENT_PROMPT.format(captions=format_list(texts), n=MAX_STATEMENTS),
        )
        for image, texts in captions.items()
    }


def read_statements(responses: Iterable[GeneratedText]) -> Table[Statement]:
    """Parse the statements in the responses."""
    read = Table[Statement]()
    for response in responses:
        image = response.request_id.removesuffix("/statements")
        proposals = proposals_of(response)
        read.rejections.extend(proposals.rejections)
        for number, proposal in enumerate(proposals.rows, 1):
            fields = text_fields(proposal, ("statement",))
            read.rows.append(
                Statement(
                    statement_id=f"{image}/model/{number}",
                    image=image,
                    text=fields["statement"] if fields else "",
                    way="model",
                    request_id=response.request_id,
                    writer=response.writer,
                    prompt_sha256=response.prompt_sha256,
                )
            )
    return read


def verify_statements(
    statements: Sequence[Statement],
    captions: Mapping[str, Sequence[str]],
    votes: Iterable[StatementVote],
    encoder: TextEncoder,
    least: int = 1,
) -> list[StatementDecision]:
    """Decide on each statement, in order.

    Rejected are statements that are empty, repeat another statement or a caption, or follow from a
    caption; those that no majority of the annotators finds in conflict with the image; and those
    beyond the first ``MAX_STATEMENTS`` of an image. A statement that lacks only votes is open.
    """
    votes_by_statement: dict[tuple[str, str], dict[str, bool]] = defaultdict(dict)
    for vote in votes:
        votes_by_statement[vote.image, normalize_text(vote.statement)][vote.annotator] = (
            vote.conflicts
        )
    seen: dict[str, set[str]] = defaultdict(set)
    accepted: dict[str, int] = defaultdict(int)
    decisions = []
    nearest = _nearest_captions(statements, captions, encoder)
    for statement, near in zip(statements, nearest, strict=True):
        cast = list(votes_by_statement[statement.image, normalize_text(statement.text)].values())
        enough = accepted[statement.image] >= MAX_STATEMENTS
        own_fault = _fault(statement, seen[statement.image], captions.get(statement.image, ()))
        own_fault = own_fault or _repetition_fault(statement, near)
        waits = not own_fault and not enough and len(cast) < least
        voted = vote_fault(cast, least, _VOTE_PHRASE) if waits or len(cast) >= least else ""
        fault = own_fault or voted or (f"beyond the first {MAX_STATEMENTS}" if enough else "")
        seen[statement.image].add(normalize_text(statement.text))
        accepted[statement.image] += not fault
        decisions.append(replace(_decision(statement, near, cast, fault), open=waits))
    return decisions


def filter_statements(
    statements: Iterable[Statement], captions: Mapping[str, Sequence[str]]
) -> list[Statement]:
    """Leave out empty and repeated statements, and those that follow from a caption."""
    seen: dict[str, set[str]] = defaultdict(set)
    kept = []
    for statement in statements:
        if not _fault(statement, seen[statement.image], captions.get(statement.image, ())):
            kept.append(statement)
        seen[statement.image].add(normalize_text(statement.text))
    return kept


def is_entailed(statement: str, caption: str) -> bool:
    """Whether a statement only leaves out words of a caption, which makes it true as well.

    >>> is_entailed("A fox reads.", "A fox in a raincoat reads a menu")
    True
    >>> is_entailed("A fox reads a newspaper", "A fox in a raincoat reads a menu")
    False
    """
    words = [word for word in _words(caption) if word in set(_words(statement))]
    return words == _words(statement)


def _fault(one: Statement, earlier: set[str], captions: Sequence[str]) -> str:
    normalized = normalize_text(one.text)
    if not normalized:
        return "empty"
    if normalized in earlier:
        return "another statement says the same"
    if not captions:
        return "its image has no caption"
    return next((f"follows from {text!r}" for text in captions if is_entailed(one.text, text)), "")


def _repetition_fault(one: Statement, near: _NearestCaption) -> str:
    # Encoders hardly see numbers: texts with different numbers are not the same.
    repeats = near.similarity >= _SAME and list_numbers(one.text) == list_numbers(near.caption)
    return f"says what {near.caption!r} says" if repeats else ""


def _decision(
    one: Statement, near: _NearestCaption, cast: Sequence[bool], fault: str
) -> StatementDecision:
    return StatementDecision(
        statement_id=one.statement_id,
        image=one.image,
        text=one.text,
        way=one.way,
        accepted=not fault,
        reason=fault or f"{sum(cast)} of {len(cast)} {_VOTE_PHRASE}",
        nearest_caption=near.caption,
        similarity=near.similarity,
        n_votes=len(cast),
        n_conflicting=sum(cast),
    )


def _nearest_captions(
    statements: Sequence[Statement], captions: Mapping[str, Sequence[str]], encoder: TextEncoder
) -> list[_NearestCaption]:
    texts = [text for listed in captions.values() for text in listed]
    rows = {text: row for row, text in enumerate(texts)}
    known = encoder.encode_texts(texts)
    own_vectors = encoder.encode_texts([statement.text for statement in statements])
    nearest = []
    for statement, vector in zip(statements, own_vectors, strict=True):
        cosines = {
            text: float(known[rows[text]] @ vector) for text in captions.get(statement.image, ())
        }
        best = max(cosines, key=cosines.__getitem__, default="")
        nearest.append(_NearestCaption(best, round(cosines.get(best, 0.0), 3)))
    return nearest


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.casefold()) if word not in _EMPTY]
