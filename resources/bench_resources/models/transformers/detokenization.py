"""Detokenization of responses, keeping the tags of reasoning and answers."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

from bench_assets.core.reading.reasoning import ANSWERS, THOUGHTS, Tags

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


class ResponseTexts:
    """Decodes tokens without special ones, but with reasoning and answer tags."""

    def __init__(
        self, tokenizer: "PreTrainedTokenizerBase", ends: Iterable[int], tags: Tags | None
    ) -> None:
        """Store the tokenizer, its end tokens, and the model's own reasoning tags."""
        self._tokenizer = tokenizer
        self._ends = frozenset(ends)
        self._tags = tags or ()

    def of(self, tokens: Sequence[int]) -> str:
        """Decode the tokens of a response."""
        runs = groupby(tokens, lambda token: token in self._marks)
        return "".join(
            self._tokenizer.decode(list(run), skip_special_tokens=not marks) for marks, run in runs
        )

    @cached_property
    def _marks(self) -> frozenset[int]:
        """Special tokens in reasoning and answer tags."""
        known = [mark for form in (*THOUGHTS, *ANSWERS) for mark in (form.opening, form.closing)]
        known += self._tags
        added = self._tokenizer.added_tokens_decoder
        special = {number for number, token in added.items() if token.special}
        return frozenset(
            number
            for number in special - self._ends
            if any(str(added[number]) in mark for mark in known)
        )


def ends_of(model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase") -> frozenset[int]:
    """End tokens of the generation configuration, else of the model, else of the tokenizer."""
    candidates: Any = (
        model.generation_config.eos_token_id,
        getattr(model.config.get_text_config(), "eos_token_id", None),
        tokenizer.eos_token_id,
    )
    first = next((ends for ends in candidates if ends is not None), ())
    return frozenset([first] if isinstance(first, int) else first)
