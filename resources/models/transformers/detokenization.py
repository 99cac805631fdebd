"""Turns the tokens that a checkpoint drew into a response's text."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

from bench_assets.core.parsing.reasoning import ANSWERS, THOUGHTS, Tags

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


class ResponseTexts:
    """Writes tokens as text, without special ones but those around a thought or an answer."""

    def __init__(
        self, tokenizer: "PreTrainedTokenizerBase", ends: Iterable[int], tags: Tags | None
    ) -> None:
        """Prepare to write.

        Args:
            tokenizer: Of the checkpoint.
            ends: Tokens that end a response.
            tags: Around the thoughts of this model, beside the known ones.
        """
        self._tokenizer = tokenizer
        self._ends = frozenset(ends)
        self._tags = tags or ()

    def of(self, tokens: Sequence[int]) -> str:
        """Write a response's tokens as text."""
        runs = groupby(tokens, lambda token: token in self._marks)
        return "".join(
            self._tokenizer.decode(list(run), skip_special_tokens=not marks) for marks, run in runs
        )

    @cached_property
    def _marks(self) -> frozenset[int]:
        """Special tokens around thoughts and answers; a channel's mark is made of several."""
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
    """Tokens that end a response.

    As the checkpoint's generation says, or its model, or tokenizer.
    """
    said: Any = (
        model.generation_config.eos_token_id,
        model.config.get_text_config().eos_token_id,
        tokenizer.eos_token_id,
    )
    first = next((ends for ends in said if ends is not None), ())
    return frozenset([first] if isinstance(first, int) else first)
