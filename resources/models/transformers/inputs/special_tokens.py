"""Keeps tokens that a question spells, such as ``<image>``, from being read as those tokens.

transformers has a way of its own (``sanitize_control_tokens``), which several families' processors
cannot take: they count images in the text, or need offsets. So a spelled token is written as
characters that stand for the pieces it is made of as plain text, one character for each piece; to
the tokenizer each is a token, and its number is replaced by that of the piece.
"""

import re
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedTokenizerBase

_FIRST, _LAST = 0x10F000, 0x10FFFD  # of a private use area that hardly anybody writes in
_ZERO_WIDTH_SPACE = "\u200b"
_UNKNOWN = "\ufffd"


class SpelledTokens:
    """Writes texts so that one tokenizer reads them as text."""

    def __init__(self, tokenizer: "PreTrainedTokenizerBase", template: str) -> None:
        """Prepare for a tokenizer, which gets further tokens, and its chat template."""
        self._tokenizer = tokenizer
        self._template = template
        self._standing: dict[int, str] = {}  # piece -> the character that stands for it
        self._pieces: dict[int, int] = {}  # number of such a character -> piece

    def as_text(self, text: str) -> str:
        """Replace every spelled token of the template or the tokenizer, and every stand-in."""
        return self._control.sub(lambda found: self._written(found[0]), text)

    def put_back(self, input_ids: "Tensor") -> None:
        """Replace the numbers of stand-ins by those of the pieces, in place."""
        for number, piece in self._pieces.items():
            input_ids[input_ids == number] = piece

    @cached_property
    def _control(self) -> re.Pattern[str]:
        names = self._tokenizer._get_control_tokens(self._template)
        longest_first = sorted(names, key=len, reverse=True)
        stand_ins = f"[{chr(_FIRST)}-{chr(_LAST)}]"
        return re.compile("|".join([*map(re.escape, longest_first), stand_ins]))

    def _written(self, token: str) -> str:
        # After a newline: some tokenizers put a blank in front of what begins a text.
        newline, both = (
            self._tokenizer._encode_without_added_tokens(t) for t in ("\n", f"\n{token}")
        )
        pieces = both[len(newline) :] if both[: len(newline)] == newline else []
        if not pieces or self._tokenizer.added_tokens_encoder.get(token) in pieces:
            # It cannot be written as text.
            return token[0] + _ZERO_WIDTH_SPACE + token[1:] if len(token) > 1 else _UNKNOWN
        return "".join(map(self._stand_in, pieces))

    def _stand_in(self, piece: int) -> str:
        if piece not in self._standing:
            from tokenizers import AddedToken

            character = chr(_FIRST + len(self._standing))
            self._tokenizer.add_tokens([AddedToken(character, normalized=False, special=True)])
            self._standing[piece] = character
            self._pieces[self._tokenizer.convert_tokens_to_ids(character)] = piece
        return self._standing[piece]
