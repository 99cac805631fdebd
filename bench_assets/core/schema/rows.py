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
    """A file of a suite's source, pinned by its content.

    Attributes:
        path: Below the source folder, with forward slashes.
    """

    path: str
    sha256: str
    n_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredImage:
    """A source image that decodes, in the image store.

    Attributes:
        name: The name the source knows it by.
        format: "JPEG", "PNG", ...: what the bytes are, whatever the extension says.
        width: As stored, in px.
        height: As stored, in px.
        orientation: EXIF's, 1 to 8: how the stored image is turned to be shown.
    """

    name: str
    sha256: str
    format: str
    width: int
    height: int
    n_bytes: int
    orientation: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """An entry of the source that did not become a question, with the reason.

    Attributes:
        entry: File and entry, as a person would look for it.
    """

    entry: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageText:
    """A text in place of an image: a caption, or recognised text (OCR).

    Attributes:
        image: Its SHA-256.
        author: The model, file or person the text comes from.
    """

    image: str
    text: str
    author: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, complete enough to be scored without its source.

    Attributes:
        question_id: "codis/017/2": the suite's name and the authors' id, never a row number.
        task: "codis": equals the folder, the asset prefix and the table folder.
        edition: Which data it is from; numbers of different editions are never compared.
        kind: How it is answered: by a letter, by several, in blanks, as a text, by a ranking.
        text: The question as it is asked, without its options and its context.
        answer: The right answer: letters, one per blank, references or image ids, by ``kind``.
        images: SHA-256 of each image, in the order shown.
        image_texts: Texts that stand in for the images; () when they are shown.
        options: For choices in the order shown; for texts the possible answers.
        context: A text beside the images that the answer depends on; "" if there is none.
        category: The paper's category, by which results are sliced; "" if it has none.
        group_id: Questions scored together, such as the two halves of a pair.
        labels: What else tables are sliced by.
    """

    question_id: str
    task: str
    edition: Edition
    kind: AnswerKind
    text: str
    answer: tuple[str, ...]
    images: tuple[str, ...] = ()
    image_texts: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    context: str = ""
    category: str = ""
    group_id: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def cluster(self) -> str:
        """Cluster of the question for intervals: its group, else its images, else itself.

        Never empty, so that several samples of a question do not count as several questions.
        """
        return self.group_id or " ".join(self.images) or self.question_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A model's response to a question, before it is parsed.

    Attributes:
        condition: "main", or the ablation the prompt belongs to.
        sample: Counts the draws where a condition asks several times.
        text: What is scored: the response without its thought, see ``core.parsing.reasoning``.
        raw_text: The response as it came.
        ranking: Candidates, best first; () for models that talk.
        logprobs: Of each option in the order shown, where they were elicited.
        decoding: Who was asked how: model identity and decoding parameters.
        image_tokens: Of each image, in reading order; () if not known.
        seconds: Seconds from asking to the last token.
        note: What was changed so that it could be asked, such as an image's size.
        served: Who answered, as the server says; "" where it does not.
        no_answer: "no answer in 512 tokens": cut off while it thought; wrong, never judged.
        error: Why there is no response; such a row is asked again and never scored.
        refused: Kind of the refusal, where the provider never answers; see ``error``.
        setup: How who was asked was configured; "" in older tables.
    """

    question_id: str
    model: str
    condition: str
    sample: int = 0
    text: str
    raw_text: str = ""
    ranking: tuple[str, ...] = ()
    logprobs: tuple[float, ...] = ()
    prompt_sha256: str = ""
    decoding: str = ""
    finish_reason: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    image_tokens: tuple[int, ...] = ()
    seconds: float | None = None
    note: str = ""
    served: str = ""
    no_answer: str = ""
    error: str = ""
    refused: str = ""
    setup: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A judge's verdict: yes or no, or a value of the judge's own scale.

    Attributes:
        verdict: Whether it counts as yes; None if the response was unreadable.
        value: "unclear": the judge's word, where there are more than yes and no.
        prompt_sha256: What the judge was asked; "" if it is no model.
        served: Who judged, as the server says; "" where it does not.
        error: Why the judge gave no response; such a row is asked again.
        refused: Kind of the refusal, where the judge's provider never answers.
        setup: How the judge was configured.
    """

    question_id: str
    model: str
    condition: str
    sample: int = 0
    judge: str
    criterion: str
    verdict: bool | None
    value: str = ""
    response: str = ""
    prompt_sha256: str = ""
    served: str = ""
    error: str = ""
    refused: str = ""
    setup: str = ""

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
    """Points for one prediction; ``points`` is None if the judge or the connection failed.

    Attributes:
        question_id: The question's.
        model: Name of the model that answered.
        condition: "main", or the ablation the prompt belongs to.
        sample: Which of several draws it is, from 0.
        points: From 0 to ``max_points``; None if it could not be scored.
        max_points: Full points.
        answer: Read out of the prediction, in the form of ``Question.answer``.
        note: Why these points, where they do not speak for themselves.
        judge: Who gave the verdicts; "" if none was needed.
        scorer: Name of the scorer of its task.
        no_answer: Cut off, refused, or no answer: no points; ``note`` has the kind.
        refused: Kind of the provider's refusal, where it was accepted.
        unread: Says something, and neither a rule nor a model read it.
        error: The prediction's error: never asked, therefore never scored.
        setup: How model and judge were configured.
        confidence: Of the answer among the options; None: not elicited.
        votes: Verdicts of the people who judged it, such as "ana: yes".
    """

    question_id: str
    model: str
    condition: str
    sample: int = 0
    points: float | None
    max_points: float = 1.0
    answer: tuple[str, ...] = ()
    note: str = ""
    judge: str = ""
    scorer: str = ""
    no_answer: bool = False
    refused: str = ""
    unread: bool = False
    error: str = ""
    setup: str = ""
    confidence: float | None = None
    votes: tuple[str, ...] = ()

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
    """A cell of a results table, with its signature.

    Attributes:
        category: "all", or the slice of the questions it is over.
        value: In the metric's own unit, mostly [0, 1]; NaN if nothing could be scored.
        low: Lower end of the 95 % interval.
        high: Its upper end.
        n_scored: Units (questions, pairs, ...) behind the value.
        n_unscored: Units left out because a judge or a connection failed.
        n_failed: Questions without a response: above 0 the value is not that of the whole set.
        n_no_answer: Of those scored, without an answer; None: not counted.
        n_refused: Questions refused for good that count as wrong; None: not counted.
        unread: Share of the responses that nobody read; None: not counted.
        served: Who answered, as servers say: "m-05 (60), m-08 (40)".
        n_clusters: Effective number of clusters behind the interval.
        largest_cluster: Share of the weight that the largest one has.
        n_rejected: Rows of the source that became no question; None: not counted.
        n_expired: What people had not decided by a deadline; None: nothing.
        data: Digest of the questions, as the signature has it; "" in older tables.
        constant: The same for the best constant response; None: not known.
        shuffled: The same for this model's responses, each to another question.
        baselines: What both were chosen from where a model judged, or why they are absent.
        setup: How model and judge were configured; "" in older tables.
    """

    task: str
    model: str
    condition: str
    metric: str
    category: str
    value: float
    low: float
    high: float
    n_scored: int
    n_unscored: int
    n_failed: int
    n_no_answer: int | None = None
    n_refused: int | None = None
    unread: float | None = None
    served: str = ""
    n_clusters: float | None = None
    largest_cluster: float | None = None
    n_rejected: int | None = None
    n_expired: int | None = None
    edition: str
    data: str = ""
    constant: float | None = None
    shuffled: float | None = None
    baselines: str = ""
    setup: str = ""
    signature: str

    @property
    def questions(self) -> str:
        """Digest of the questions, also for rows older than its column."""
        return self.data or Signature.parse(self.signature).parts.get("data", "")


FEW_CLUSTERS = 10.0
"""Effective clusters below which an interval is wide and may be off: readers are warned."""

_LARGE_CLUSTER, _TIMES = 0.1, 2.0
"""Share of the weight, and times an equal one's share, from which one cluster decides a mean."""


def cluster_warning(row: "Metric | LeaderboardRow") -> str:
    """Warning about few effective clusters, or one that dominates; "" if there is none."""
    if row.n_clusters is None:
        return ""
    if round(row.n_clusters, 6) < FEW_CLUSTERS:
        number = f"{row.n_clusters:.1f}".removesuffix(".0")
        return f"only {number} effective cluster{'s' * (number != '1')}"
    largest = row.largest_cluster or 0.0
    dominates = largest >= _LARGE_CLUSTER and largest * row.n_clusters >= _TIMES
    return f"one cluster has {largest:.0%} of the weight".replace("%", " %") if dominates else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """A person's vote on an item by one criterion.

    Attributes:
        person: A pseudonym.
        value: "yes", "3", "kept": compared as it is.
        seconds: That it took; None if not measured.
        at: ISO 8601; "" if unknown.
    """

    person: str
    unit: str
    criterion: str
    value: str
    seconds: float | None = None
    at: str = ""


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
    """A leaderboard row: a model's primary metric, measured here or published.

    Attributes:
        edition: Numbers of different editions are not comparable.
        source: "measured here", or the paper and table.
        constant: Without looking, see ``Metric``.
        stale: How it was measured otherwise than it would be now; "": it was not.
        is_baseline: Guessing: a reference line, which is not ranked.
        ranks: That it may have among those measured alike, "1-2"; "": not known.
        place: Of the tables, where they are not those of the source that is named now.
    """

    task: str
    edition: str
    metric: str
    model: str
    source: str
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
    largest_cluster: float | None = None
    n_rejected: int | None = None
    n_expired: int | None = None
    constant: float | None = None
    shuffled: float | None = None
    stale: str = ""
    is_baseline: bool = False
    ranks: str = ""
    place: str = ""
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
