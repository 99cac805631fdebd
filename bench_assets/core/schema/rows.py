"""The rows of every table between a source and the leaderboard.

A row is written once and never changed. A prediction or score is identified by its question, model,
condition and sample, a judgement also by judge and criterion; a table has each at most once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import isnan
from typing import TYPE_CHECKING, Literal, NamedTuple, Self, TypeAlias

from bench_assets.core.schema.signature import Signature

if TYPE_CHECKING:
    from bench_assets.core.schema.chat import Prompt, Response


AnswerKind: TypeAlias = Literal["choice", "choices", "blanks", "text", "ranking"]
Edition: TypeAlias = Literal["published", "own", "built", "mini"]
"""``published``: a complete release, with the counts of the paper or the authors' files; ``own``: a
subset of it, or other data in its format; ``built``: built here from raw material; ``mini``: built
here from the drawn material that ships with the suite. Numbers of different editions are never
compared."""


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
        name: Its name in the source.
        format: Format of the bytes, "JPEG", "PNG", ...; the file name extension is ignored.
        width: As stored, in px.
        height: As stored, in px.
        orientation: EXIF orientation, 1 to 8.
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
        entry: File and entry, so that a person can find it.
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
        kind: Form of the answer: one letter, several letters, blanks, a text or a ranking.
        text: The text of the question, without its options and its context.
        answer: The right answer: letters, one per blank, references or image ids, by ``kind``.
        images: SHA-256 of each image, in the order shown.
        image_texts: Texts that stand in for the images; () when they are shown.
        options: For choices in the order shown; for texts the possible answers.
        context: A text beside the images that the answer depends on; "" if there is none.
        category: The paper's category, by which results are sliced; "" if it has none.
        group_id: Questions scored together, such as the two halves of a pair.
        labels: Further values by which results are sliced.
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

    @property
    def is_single_choice(self) -> bool:
        """Whether exactly one of several options is right."""
        return self.kind == "choice" and len(self.options) > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A model's response to a question, before it is parsed.

    Attributes:
        condition: "main", or the ablation the prompt belongs to.
        sample: Sample number, from 0, where a condition draws several responses.
        text: The scored text: the response without its reasoning, see ``core.reading.reasoning``.
        raw_text: The response as received.
        ranking: Candidates, best first; () for generated text.
        logprobs: Log-probability of each option in the order shown, where elicited.
        decoding: Model identity and decoding parameters.
        image_tokens: Tokens of each image, in reading order; () if unknown.
        seconds: Seconds from the request to the last token.
        note: Changes to the request that the model required, such as a resized image.
        served: Serving model that the server reports; "" if it reports none.
        no_answer: "no answer in 512 tokens": truncated before an answer; wrong, never judged.
        error: Why there is no response; the row is requested again and never scored.
        refused: Kind of a permanent refusal by the provider; see ``error``.
        setup: Setup of the model, see ``core.schema.provenance``; "" in older tables.
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

    @property
    def has_reasoning(self) -> bool:
        """Whether the response as received has more than the scored text."""
        return self.raw_text.strip() not in ("", self.text.strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A judge's verdict: yes or no, or a value of the judge's own scale.

    Attributes:
        verdict: Whether it counts as yes; None if the judge's response was unreadable.
        value: The judge's word, such as "unclear", on a scale of more than yes and no.
        prompt_sha256: Digest of the judge's prompt; "" if the judge is not a model.
        served: Serving model that the judge's server reports; "" if it reports none.
        error: Why the judge gave no response; the row is requested again.
        refused: Kind of a permanent refusal by the judge's provider.
        setup: Setup of the judge.
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
        """Whether rules or a person decided; of rules, ``response`` is the reason."""
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
        """Build the judgement of a prediction by rules, or by a person."""
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
        """Build the judgement of a prediction from a response; no verdict if that has an error."""
        judgement = cls.of(
            prediction,
            judge=judge,
            criterion=criterion,
            verdict=None if response.error else verdict,
            value="" if response.error else value,
            response=response.text,
        )
        return replace(
            judgement,
            prompt_sha256=prompt.sha256,
            served=response.served,
            error=response.error,
            refused=response.refused,
        )


UNREAD = "unread"
"""Entry of ``Score.answer`` for a part of a response without points; the other parts were read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Points for one prediction; ``points`` is None if the judge or the connection failed.

    Attributes:
        points: From 0 to ``max_points``; None if it could not be scored.
        max_points: Full points.
        answer: Answer parsed from the prediction, in the form of ``Question.answer``.
        note: Reason for the points, where it is not obvious.
        judge: Judges that gave the verdicts; "" if none was needed.
        scorer: Name of the scorer.
        no_answer: Truncated, refused, or without an answer: no points; ``note`` has the kind.
        refused: Kind of the provider's permanent refusal, if refusals are accepted.
        unread: Has content, but neither a rule nor a model could parse it.
        asked_again: A reader looked at the response again, see ``core.judging.second_look``.
        named: The answer is only named, or guessed by rules; no form states it.
        error: The prediction's error; such a prediction is never scored.
        setup: Setups of the model and the judge.
        confidence: Probability of the answer among the options; None if not elicited.
        votes: Verdicts of the annotators who judged it, such as "ana: yes".
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
    asked_again: bool = False
    named: bool = False
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
        category: "all", or a slice of the questions.
        value: In the metric's unit, mostly [0, 1]; NaN if nothing could be scored.
        low: Lower end of the 95 % interval.
        high: Upper end of the 95 % interval.
        n_scored: Units (questions, pairs, ...) behind the value.
        n_unscored: Units left out because a judge or a connection failed.
        n_failed: Questions without a response; if above 0, the value is not of the whole set.
        n_no_answer: Scored questions without an answer; None if not counted.
        n_refused: Permanently refused questions, which count as wrong; None if not counted.
        unread: Share of the responses that could not be parsed; None if not counted.
        asked_again: Share of the responses that a reader looked at again; None if not counted.
        named: Share of the responses whose answer is only named; None if not counted.
        if_unread_wrong: The value if all unread responses were wrong; None without any.
        if_unread_right: The value if all unread responses were right; None without any.
        served: Serving models that servers report: "m-05 (60), m-08 (40)".
        n_clusters: Effective number of clusters behind the interval.
        largest_cluster: Share of the largest cluster in the weight.
        n_rejected: Rows of the source that did not become questions; None if not counted.
        n_expired: Annotation decisions missing at the deadline; None if there are none.
        data: Digest of the questions, as in the signature; "" in older tables.
        constant: Value of the best constant response; None if unknown.
        shuffled: Value of this model's responses shuffled across questions; None if unknown.
        baselines: How both were found if a model judged, or why they are absent.
        people: How people's verdicts correct a judge's number, or that they did not check it; set
            where a number is shown, not in its table.
        setup: Setups of the model and the judge; "" in older tables.
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
    asked_again: float | None = None
    named: float | None = None
    if_unread_wrong: float | None = None
    if_unread_right: float | None = None
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
    people: str = ""
    setup: str = ""
    signature: str

    @property
    def questions(self) -> str:
        """Digest of the questions, also for rows older than the column ``data``."""
        return self.data or Signature.parse(self.signature).parts.get("data", "")


READ_FIELDS = ("unread", "asked_again", "named", "if_unread_wrong", "if_unread_right")
"""Fields that qualify a value by how the responses behind it were read."""


class ReadValue(NamedTuple):
    """A value with the shares and bounds of ``Metric``."""

    value: float
    unread: float | None = None
    asked_again: float | None = None
    named: float | None = None
    if_unread_wrong: float | None = None
    if_unread_right: float | None = None


def read_shares(row: "Metric | ReadValue") -> dict[str, float]:
    """Known values of ``READ_FIELDS``, by field."""
    shares = {name: getattr(row, name) for name in READ_FIELDS}
    return {name: share for name, share in shares.items() if share is not None}


UNKNOWN = "unknown"
"""Edition of an unreadable number whose questions are unreadable too."""


IMPORTED = "imported from "
"""Prefix of the source of a number that another harness measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardRow:
    """A leaderboard row: a model's primary metric, measured here or published.

    Attributes:
        edition: Numbers of different editions are not comparable.
        source: "measured here", or the paper and table.
        lower_is_better: Whether the lowest value of the metric is the best.
        constant: Blind baseline, see ``Metric``.
        people: How people's verdicts correct a judge's number, see ``Metric``.
        stale: What has changed since it was measured; "" if nothing.
        is_baseline: Whether it is a guessing baseline, which is not ranked.
        ranks: Rank interval among rows measured alike, "1-2"; "" if unknown.
        place: Location of its tables, if they belong to another source than the configured one.
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
    asked_again: float | None = None
    named: float | None = None
    if_unread_wrong: float | None = None
    if_unread_right: float | None = None
    served: str = ""
    n_clusters: float | None = None
    largest_cluster: float | None = None
    n_rejected: int | None = None
    n_expired: int | None = None
    lower_is_better: bool = False
    constant: float | None = None
    shuffled: float | None = None
    people: str = ""
    stale: str = ""
    is_baseline: bool = False
    ranks: str = ""
    place: str = ""
    signature: str

    @property
    def merit(self) -> float:
        """The value by which rows of a task are ranked: the higher, the better."""
        return -self.value if self.lower_is_better else self.value

    @property
    def is_measured(self) -> bool:
        """Whether this home measured it, even if it is unreadable; a paper's number is not."""
        return self.n_scored is not None or isnan(self.value)

    @property
    def is_imported(self) -> bool:
        """Whether it was imported from another harness."""
        return self.source.startswith(IMPORTED)

    @property
    def is_read_by_itself(self) -> bool:
        """Whether the model was the reader of its own responses: two skills in one number."""
        return "reader:self" in self.signature

    @property
    def shown_source(self) -> str:
        """The source, with a mark if the value is not comparable with others."""
        source = f"{self.source}, of another source ({self.place})" if self.place else self.source
        if self.is_read_by_itself:
            source += ", read by itself"
        return f"{source} (stale: {self.stale})" if self.stale else source
