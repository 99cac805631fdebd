"""Text distractors: related statements that conflict with an image (section 3.3).

A model writes them from the captions (way a), or they come from a dialogue about the image (way b,
``dialogue``). Rules reject those that repeat a caption or follow from it; people verify the rest.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
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

_SAME = 0.97  # cosine from which a statement repeats a caption
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

_SURPLUS = f"beyond the first {MAX_STATEMENTS}"
_VOTE_PHRASE = "find it in conflict"
_WORD = re.compile(r"[^\W_]+")
_FUNCTION_WORDS = frozenset(("a", "an", "the", "is", "are", "and", "it", "its", "there"))


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
    """Build the prompts for statements about each image, by request id (way a).

    ``captions`` and ``images``, their SHA-256, are by the name of the image.
    """
    return {
        f"{image}/statements": Prompt.of(
            Image(images[image]),
            _STATEMENT_PROMPT.format(captions=format_list(texts), n=MAX_STATEMENTS),
        )
        for image, texts in captions.items()
    }


def read_statements(responses: Iterable[GeneratedText]) -> Table[Statement]:
    """Parse the statements in the responses; a proposal without one has the text ""."""
    table = Table[Statement]()
    for response in responses:
        image = response.request_id.removesuffix("/statements")
        proposals = proposals_of(response)
        table.rejections.extend(proposals.rejections)
        for number, proposal in enumerate(proposals.rows, 1):
            fields = text_fields(proposal, ("statement",))
            table.rows.append(
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
    return table


def verify_statements(
    statements: Sequence[Statement],
    captions: Mapping[str, Sequence[str]],
    votes: Iterable[StatementVote],
    encoder: TextEncoder,
    least_votes: int = 1,
) -> list[StatementDecision]:
    """Decide on each statement, in order.

    A statement is rejected if it is empty, repeats another statement or a caption, or follows from
    a caption; if its image has no caption, or ``MAX_STATEMENTS`` already; or if no majority of the
    annotators finds it in conflict with the image. A statement that lacks only votes is open.
    """
    votes_by_statement: dict[tuple[str, str], dict[str, bool]] = defaultdict(dict)
    for vote in votes:
        votes_by_statement[vote.image, normalize_text(vote.statement)][vote.annotator] = (
            vote.conflicts
        )
    earlier_texts: dict[str, set[str]] = defaultdict(set)
    n_accepted = Counter[str]()
    decisions = []
    nearest_captions = _nearest_captions(statements, captions, encoder)
    for statement, nearest in zip(statements, nearest_captions, strict=True):
        image, text = statement.image, normalize_text(statement.text)
        statement_votes = list(votes_by_statement[image, text].values())
        surplus = _SURPLUS if n_accepted[image] == MAX_STATEMENTS else ""
        text_fault = _text_fault(statement, earlier_texts[image], captions.get(image, ()))
        text_fault = text_fault or _repetition_fault(statement, nearest)
        fault = text_fault or vote_fault(statement_votes, least_votes, _VOTE_PHRASE, surplus)
        is_open = len(statement_votes) < least_votes and not text_fault and not surplus
        if not fault:
            n_accepted[image] += 1
        earlier_texts[image].add(text)
        decisions.append(_decision(statement, nearest, statement_votes, fault, is_open=is_open))
    return decisions


def filter_statements(
    statements: Iterable[Statement], captions: Mapping[str, Sequence[str]]
) -> list[Statement]:
    """Leave out empty and repeated statements, and those without a caption or implied by one."""
    earlier_texts: dict[str, set[str]] = defaultdict(set)
    kept = []
    for statement in statements:
        image = statement.image
        if not _text_fault(statement, earlier_texts[image], captions.get(image, ())):
            kept.append(statement)
        earlier_texts[image].add(normalize_text(statement.text))
    return kept


def is_entailed(statement: str, caption: str) -> bool:
    """Whether a caption has the words of a statement in their order, function words aside.

    A statement that only leaves out words is mostly true as well.

    >>> is_entailed("A fox reads.", "A fox in a raincoat reads a menu")
    True
    >>> is_entailed("A fox reads a newspaper", "A fox in a raincoat reads a menu")
    False
    >>> is_entailed("A black dog", "A black dog and a white dog")
    True
    """
    following_words = iter(_words(caption))
    return all(word in following_words for word in _words(statement))


def _text_fault(statement: Statement, earlier_texts: set[str], captions: Sequence[str]) -> str:
    """Why a statement is not put to the vote; "" if it is."""
    text = normalize_text(statement.text)
    if not text:
        return "empty"
    if text in earlier_texts:
        return "another statement says the same"
    if not captions:
        return "its image has no caption"
    for caption in captions:
        if is_entailed(statement.text, caption):
            return f"follows from {caption!r}"
    return ""


def _repetition_fault(statement: Statement, nearest: _NearestCaption) -> str:
    if nearest.similarity < _SAME:
        return ""
    # Encoders hardly see numbers: texts with different numbers are not the same.
    has_same_numbers = list_numbers(statement.text) == list_numbers(nearest.caption)
    return f"says what {nearest.caption!r} says" if has_same_numbers else ""


def _decision(
    statement: Statement,
    nearest: _NearestCaption,
    votes: Sequence[bool],
    fault: str,
    *,
    is_open: bool,
) -> StatementDecision:
    return StatementDecision(
        statement_id=statement.statement_id,
        image=statement.image,
        text=statement.text,
        way=statement.way,
        accepted=not fault,
        reason=fault or f"{sum(votes)} of {len(votes)} {_VOTE_PHRASE}",
        nearest_caption=nearest.caption,
        similarity=nearest.similarity,
        n_votes=len(votes),
        n_conflicting=sum(votes),
        open=is_open,
    )


def _nearest_captions(
    statements: Sequence[Statement], captions: Mapping[str, Sequence[str]], encoder: TextEncoder
) -> list[_NearestCaption]:
    """Find the nearest caption of each statement; "" with 0 if its image has none."""
    texts = list(chain.from_iterable(captions.values()))
    vector_of = dict(zip(texts, encoder.encode_texts(texts), strict=True))
    statement_vectors = encoder.encode_texts([statement.text for statement in statements])
    nearest = []
    for statement, vector in zip(statements, statement_vectors, strict=True):
        cosines = {
            caption: float(vector_of[caption] @ vector)
            for caption in captions.get(statement.image, ())
        }
        best = max(cosines, key=cosines.__getitem__, default="")
        nearest.append(_NearestCaption(best, round(cosines.get(best, 0.0), 3)))
    return nearest


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.casefold()) if word not in _FUNCTION_WORDS]
