"""The rows of every table between a source and the leaderboard.

A row is written once and never changed. Its identity is the tuple of its ``*_id``, ``model``,
``condition`` and ``sample`` fields; a table holds each identity at most once.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from bench_assets.core.schema.signature import Signature

if TYPE_CHECKING:
    from bench_assets.core.schema.chat import Prompt, Response


AnswerKind: TypeAlias = Literal["choice", "choices", "blanks", "text", "ranking"]
Edition: TypeAlias = Literal["published", "own", "built", "mini"]
"""``published``: a whole release, as the paper or the authors' files count it; ``own``: a part of
one, or other data in its form; ``built``: made here, of raw material; ``mini``: made here, of the
drawn material that ships with the suite. Numbers of different editions are never compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file of a suite's source, pinned by its content."""

    path: str  # below the source folder, with forward slashes
    sha256: str
    n_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredImage:
    """A source image that decodes, in the image store."""

    name: str  # the name the source knows it by
    sha256: str
    format: str  # "JPEG", "PNG", ...: what the bytes are, whatever the extension says
    width: int  # px, as stored
    height: int  # px, as stored
    n_bytes: int
    orientation: int = 1  # EXIF's, 1 to 8: how the stored image is turned to be shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """An entry of the source that did not become a question, with the reason."""

    entry: str  # file and entry, as a person would look for it
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageText:
    """A text in place of an image: a caption, or recognised text (OCR)."""

    image: str  # SHA-256
    text: str
    author: str  # the model, file or person the text comes from


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, complete enough to be scored without its source."""

    question_id: str  # "codis/017/2": the suite's name and the authors' id, never a row number
    task: str  # "codis": equals the folder, the asset prefix and the table folder
    edition: Edition
    kind: AnswerKind
    text: str
    answer: tuple[str, ...]  # letters, one per blank, references or image ids, by `kind`
    images: tuple[str, ...] = ()  # SHA-256 of each image, in the order shown
    image_texts: tuple[str, ...] = ()  # texts that stand in for the images; () when they are shown
    options: tuple[str, ...] = ()  # for choices in the order shown; for texts the possible answers
    context: str = ""
    category: str = ""
    group_id: str = ""  # questions scored together, such as the two halves of a pair
    labels: Mapping[str, str] = field(default_factory=dict)  # what else tables are sliced by

    @property
    def cluster(self) -> str:
        """Cluster of the question for intervals: its group, else its images, else itself.

        Never empty, so that several samples of a question do not count as several questions.
        """
        return self.group_id or " ".join(self.images) or self.question_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A model's response to a question, before it is parsed."""

    question_id: str
    model: str
    condition: str  # "main", or the ablation the prompt belongs to
    sample: int = 0  # counts the draws where a condition asks several times
    text: str  # what is scored: the response without its thought, see core.reasoning
    raw_text: str = ""  # the response as it came
    ranking: tuple[str, ...] = ()  # candidates, best first; () for models that talk
    logprobs: tuple[float, ...] = ()  # of each option in the order shown, where they were elicited
    prompt_sha256: str = ""
    decoding: str = ""  # who was asked how: model identity and decoding parameters
    finish_reason: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    image_tokens: tuple[int, ...] = ()  # of each image, in reading order; () if not known
    seconds: float | None = None  # s, from asking to the last token
    note: str = ""  # what was changed so that it could be asked, such as an image's size
    served: str = ""  # who answered, as the server says; "" where it does not
    no_answer: str = ""  # "no answer in 512 tokens": cut off while it thought; wrong, never judged
    error: str = ""  # why there is no response; such a row is asked again and never scored
    refused: str = ""  # kind of the refusal, where the provider never answers; see ``error``
    setup: str = ""  # how who was asked was configured; "" in older tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A judge's verdict: yes or no, or a value of the judge's own scale."""

    question_id: str
    model: str
    condition: str
    sample: int = 0
    judge: str
    criterion: str
    verdict: bool | None  # whether it counts as yes; None if the response was unreadable
    value: str = ""  # "unclear": the judge's word, where there are more than yes and no
    response: str = ""
    prompt_sha256: str = ""  # what the judge was asked; "" if it is no model
    served: str = ""  # who judged, as the server says; "" where it does not
    error: str = ""  # why the judge gave no response; such a row is asked again
    refused: str = ""  # kind of the refusal, where the judge's provider never answers
    setup: str = ""  # how the judge was configured

    @property
    def by_rules(self) -> bool:
        """Whether rules decided: then ``response`` holds the reason."""
        return not self.prompt_sha256

    @classmethod
    def of(
        cls,
        prediction: Prediction,
        *,
        judge: str,
        criterion: str,
        verdict: bool | None,
        response: str,
        value: str = "",
    ) -> Self:
        """Build the judgement of a prediction by rules."""
        return cls(
            question_id=prediction.question_id,
            model=prediction.model,
            condition=prediction.condition,
            sample=prediction.sample,
            judge=judge,
            criterion=criterion,
            verdict=verdict,
            value=value,
            response=response,
        )

    @classmethod
    def from_response(  # noqa: PLR0913  (a column each)
        cls,
        prediction: Prediction,
        response: "Response",
        *,
        prompt: "Prompt",
        judge: str,
        criterion: str,
        verdict: bool | None,
        value: str = "",
    ) -> Self:
        """Judgement of a prediction from a model's response; no verdict without a response."""
        verdict, value = (None, "") if response.error else (verdict, value)
        named = {"judge": judge, "criterion": criterion, "value": value}
        said = cls.of(prediction, verdict=verdict, response=response.text, **named)
        return replace(
            said,
            prompt_sha256=prompt.sha256,
            served=response.served,
            error=response.error,
            refused=response.refused,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Points for one prediction; ``points`` is None if the judge or the connection failed."""

    question_id: str
    model: str
    condition: str
    sample: int = 0
    points: float | None
    max_points: float = 1.0
    answer: tuple[str, ...] = ()  # read out of the prediction, in the form of Question.answer
    note: str = ""  # why these points, where they do not speak for themselves
    judge: str = ""
    scorer: str = ""
    no_answer: bool = False  # cut off, refused, or no answer: no points; ``note`` has the kind
    refused: str = ""  # kind of the provider's refusal, where it was accepted
    unread: bool = False  # says something, and neither a rule nor a model read it
    error: str = ""  # the prediction's error: never asked, therefore never scored
    setup: str = ""  # of the prediction and its judgements, see core.setups
    confidence: float | None = None  # of the answer among the options; None: not elicited

    @classmethod
    def of(
        cls,
        prediction: Prediction,
        *,
        points: float | None,
        answer: tuple[str, ...] = (),
        max_points: float = 1.0,
        note: str = "",
    ) -> Self:
        """Score a prediction."""
        return cls(
            question_id=prediction.question_id,
            model=prediction.model,
            condition=prediction.condition,
            sample=prediction.sample,
            points=points,
            max_points=max_points,
            answer=answer,
            note=note,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A cell of a results table, with its signature."""

    task: str
    model: str
    condition: str
    metric: str
    category: str  # "all", or the slice of the questions it is over
    value: float  # in the metric's own unit, mostly [0, 1]; NaN if nothing could be scored
    low: float  # lower and upper end of the 95 % interval
    high: float
    n_scored: int  # units (questions, pairs, ...) behind the value
    n_unscored: int  # units left out because a judge or a connection failed
    n_failed: int  # questions without a response: above 0 the value is not that of the whole set
    n_no_answer: int | None = None  # of those scored, without an answer; None: not counted
    n_refused: int | None = None  # questions refused for good that count as wrong; None: as above
    unread: float | None = None  # share of the responses that nobody read; None: as above
    served: str = ""  # who answered, as servers say: "m-05 (60), m-08 (40)"
    n_clusters: float | None = None  # effective number of clusters behind the interval
    n_rejected: int | None = None  # rows of the source that became no question; None: not counted
    edition: str
    data: str = ""  # digest of the questions, as the signature has it; "" in older tables
    constant: float | None = None  # the same for the best constant response; None: not known
    shuffled: float | None = None  # the same for this model's responses, each to another question
    setup: str = ""  # how model and judge were configured, see core.setups; "" in older tables
    signature: str

    @property
    def questions(self) -> str:
        """Digest of the questions, also for rows older than its column."""
        return self.data or Signature.parse(self.signature).parts.get("data", "")


FEW_CLUSTERS = 10.0
"""Effective clusters below which an interval is wide and may be off: readers are warned."""


def cluster_warning(n_clusters: float | None) -> str:
    """Warning about few effective clusters; "" if there are enough.

    >>> cluster_warning(3.93), cluster_warning(12.0)
    ('only 3.9 effective clusters', '')
    """
    few = n_clusters is not None and n_clusters < FEW_CLUSTERS
    return f"only {n_clusters:.1f} effective clusters" if few else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """A person's vote on an item by one criterion."""

    person: str  # a pseudonym
    unit: str
    criterion: str
    value: str  # "yes", "3", "kept": compared as it is
    seconds: float | None = None  # s; None if not measured
    at: str = ""  # ISO 8601; "" if unknown


def votes_in(
    rows: Iterable[Any], *, person: str, unit: Sequence[str], criteria: Sequence[str]
) -> list[Vote]:
    """Extract votes from a table with a column per criterion.

    Columns named ``seconds`` and ``at`` are used if they exist.

    Args:
        rows: One row per person and unit.
        person: Field with the voter.
        unit: Fields that together identify the unit.
        criteria: Fields with the votes.
    """
    return [
        Vote(
            person=getattr(row, person),
            unit=" / ".join(str(getattr(row, name)) for name in unit),
            criterion=criterion,
            value=_said(getattr(row, criterion)),
            seconds=getattr(row, "seconds", None),
            at=getattr(row, "at", ""),
        )
        for row in rows
        for criterion in criteria
    ]


def _said(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


UNKNOWN = "unknown"
"""The edition of a number that cannot be read, on questions that cannot be read either."""


IMPORTED = "imported from "
"""How the source of a number begins that another harness measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardRow:
    """A leaderboard row: a model's primary metric, measured here or published."""

    task: str
    edition: str  # numbers of different editions are not comparable
    metric: str
    model: str
    source: str  # "measured here", or the paper and table
    value: float
    low: float | None
    high: float | None
    n_scored: int | None
    n_unscored: int | None
    n_failed: int | None
    n_no_answer: int | None = None
    n_refused: int | None = None
    unread: float | None = None
    served: str = ""
    n_clusters: float | None = None
    n_rejected: int | None = None
    constant: float | None = None  # without looking, see ``Metric``
    shuffled: float | None = None
    stale: str = ""  # how it was measured otherwise than it would be now; "": it was not
    is_baseline: bool = False  # guessing: a reference line, which is not ranked
    ranks: str = ""  # that it may have among those measured alike, "1-2"; "": not known
    place: str = ""  # of the tables, where they are not those of the source that is named now
    signature: str

    @property
    def is_measured(self) -> bool:
        """Whether it is a result of this home rather than a paper's, also if unreadable."""
        return self.n_scored is not None or isnan(self.value)

    @property
    def is_imported(self) -> bool:
        """Whether it was imported from another harness."""
        return self.source.startswith(IMPORTED)

    @property
    def shown_source(self) -> str:
        """The source, with a mark if the value is not comparable with others."""
        source = f"{self.source}, of another source ({self.place})" if self.place else self.source
        return f"{source} (stale: {self.stale})" if self.stale else source
