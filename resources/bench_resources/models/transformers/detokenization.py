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
        self, tokenizer: "PreTrainedTokenizerBase", end_tokens: Iterable[int], tags: Tags | None
    ) -> None:
        """Store the tokenizer, its end tokens, and the model's own reasoning tags."""
        self._tokenizer = tokenizer
        self._end_tokens = frozenset(end_tokens)
        self._tags = tags or ()

    def decode(self, tokens: Sequence[int]) -> str:
        """Decode the tokens of a response."""
        runs = groupby(tokens, lambda token: token in self._tag_tokens)
        return "".join(
            self._tokenizer.decode(list(run), skip_special_tokens=not is_tag)
            for is_tag, run in runs
        )

    @cached_property
    def _tag_tokens(self) -> frozenset[int]:
        """Ids of the special tokens in reasoning and answer tags."""
        tags = [tag for pair in (*THOUGHTS, *ANSWERS) for tag in (pair.opening, pair.closing)]
        tags += self._tags
        return frozenset(
            token_id
            for token_id, token in self._tokenizer.added_tokens_decoder.items()
            if token.special
            and token_id not in self._end_tokens
            and any(str(token) in tag for tag in tags)
        )


def end_tokens_of(model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase") -> frozenset[int]:
    """End tokens of the generation configuration, else of the model, else of the tokenizer."""
    candidates: Any = (
        model.generation_config.eos_token_id,
        getattr(model.config.get_text_config(), "eos_token_id", None),
        tokenizer.eos_token_id,
    )
    tokens = next((tokens for tokens in candidates if tokens is not None), ())
    return frozenset([tokens] if isinstance(tokens, int) else tokens)
