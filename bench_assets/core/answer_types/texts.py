"""Text answers: similarity to the nearest of several references, as the metric measures it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bench_assets.core.answer_types.definition import AnswerType, Gold, Grade, Matching, RowContext
from bench_assets.core.answer_types.options import format_cell, parse_list
from bench_assets.core.judging.second_look import AnswerForm
from bench_assets.core.metrics.captions import CaptionPair, caption_rouge_l
from bench_assets.core.metrics.short_answers import (
    anls,
    exact_match,
    normalize_answer,
    relaxed_match,
    vqa_accuracy,
    word_accuracy,
)
from bench_assets.core.reading.readings import UNREAD
from bench_assets.core.reading.yes_no import read_yes_no
from bench_assets.core.schema.errors import SourceError


def _caption_similarity(text: str, references: Sequence[str]) -> float:
    return caption_rouge_l(CaptionPair(text, tuple(references)))


_SIMILARITY: Mapping[Matching, Callable[[str, Sequence[str]], float]] = {
    "exact": exact_match,
    "anls": anls,
    "relaxed": relaxed_match,
    "vqa": vqa_accuracy,
    "rouge_l": _caption_similarity,
    "words": word_accuracy,
}
_YES_NO = {"yes", "no"}
_WHOLE_TEXT: frozenset[Matching] = frozenset({"rouge_l", "words"})  # compare unnormalised texts


@dataclass(frozen=True, slots=True)
class TextAnswer(AnswerType):
    """A word, a short phrase or a caption."""

    matching: Matching = "exact"

    @property
    def instruction(self) -> str:
        """Ask for a sentence if whole texts are compared, else for a few words."""
        if self.matching in _WHOLE_TEXT:
            return "Answer in one sentence."
        return "Answer with a single word, a number or a short phrase."

    def gold(self, value: object, context: RowContext) -> Gold:
        """Read the references: a text, a list of texts, or of objects with an ``answer``.

        Equal references are kept for VQA accuracy only.
        """
        listed = parse_list(value)
        entries: Sequence[object] = listed if isinstance(listed, list | tuple) else [value]
        is_written_tuple = isinstance(value, str) and isinstance(listed, tuple)
        if is_written_tuple and not any(isinstance(entry, str) for entry in entries):
            entries = [value]  # "(2, 3)" is one text
        cells = (entry.get("answer") if isinstance(entry, Mapping) else entry for entry in entries)
        references = [text for text in map(format_cell, cells) if text]
        if not references:
            raise SourceError("no answer")
        if self.matching != "vqa":  # VQA accuracy counts all ten answers, also equal ones
            references = list(dict.fromkeys(references))
        return Gold("text", tuple(references))

    def form(self, gold: Gold) -> AnswerForm | None:
        """Yes or no, if every reference is one; other texts have no form."""
        is_yes_no = self.matching == "exact" and {*map(normalize_answer, gold.answer)} <= _YES_NO
        return AnswerForm("yes_no") if is_yes_no else None

    def grade(self, response: str, gold: Gold) -> Grade:
        """Give points for the nearest reference; "Yes, there is." matches the reference "yes"."""
        text = response.strip() if self.matching in _WHOLE_TEXT else normalize_answer(response)
        read = (text,) if text else ()
        points = _SIMILARITY[self.matching](response, gold.answer)
        if not points and self.form(gold):
            reading = read_yes_no(response)
            if reading is None:
                return Grade(points=0.0, read=read, reason=UNREAD)
            points = float(reading.value in map(normalize_answer, gold.answer))
            read = (reading.value,)
            return Grade(points=points, read=read, reason=reading.form, named=reading.named)
        return Grade(points=points, read=read, reason="" if points else "is none of the references")
