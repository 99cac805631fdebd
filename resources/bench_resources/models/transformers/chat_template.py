"""Chat templates, and escaping of special tokens in questions."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

from bench_resources.models.workers.local_model import Message, as_text, images_of, with_texts

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedTokenizerBase

    from bench_resources.models.transformers.processor import Processor


_FIRST = 0xF0000  # of a private use area that no template uses


class ChatTemplate:
    """Applies a processor's chat template, and verifies that no text is lost.

    Each text gets a unique private character in front and behind. So it does not matter whether the
    template trims, escapes or moves texts, or whether one text contains another.
    """

    def __init__(
        self, processor: "Processor", *, text_only: bool, variables: dict[str, Any]
    ) -> None:
        """Store the processor and the template's variables."""
        self._processor = processor
        self._text_only = text_only
        self._variables = variables

    def taken(self, chat: Sequence[Message]) -> tuple[list[Message], str]:
        """Find the message form that the template accepts: parts, or strings.

        Returns:
            The conversation, and what the template writes after its last text.

        Raises:
            ValueError: If the template refuses the conversation, or leaves a text out.
        """
        reason = ""
        for form in self._forms(chat):
            try:
                return form, self._find_ending(form)
            except (TypeError, ValueError) as error:
                reason = reason or str(error)
        raise ValueError(reason)

    def _forms(self, chat: Sequence[Message]) -> Iterator[list[Message]]:
        if self._text_only:
            yield [as_text(message) for message in chat]
            return
        yield list(chat)
        yield [as_text(message) if message["role"] == "system" else message for message in chat]
        yield [message if images_of([message]) else as_text(message) for message in chat]

    def _find_ending(self, form: list[Message]) -> str:
        """Verify that every text appears; returns what follows the last one."""
        numbers = count()
        needed: dict[str, str] = {}  # mark -> text
        last = -1

        def marked(message: Message) -> Message:
            def between(text: str) -> str:
                if not text.strip():
                    return text  # blank texts may be dropped
                opening, closing = (chr(_FIRST + next(numbers)) for _ in range(2))
                if message["role"] != "assistant":  # templates cut reasoning from earlier responses
                    needed[opening] = text
                needed[closing] = text
                return f"{opening}{text}{closing}"

            return with_texts(message, between)

        written = self.written([marked(message) for message in form])
        for mark, text in needed.items():
            position = written.rfind(mark)
            if position < 0:
                raise ValueError(f"the chat template leaves out {text.strip()[:60]!r}")
            last = max(last, position)
        return written[last + 1 :]

    def written(self, chat: Sequence[Message]) -> str:
        """Apply the template.

        Raises:
            ValueError: If the template refuses it.
        """
        from jinja2 import TemplateError

        try:
            return str(
                self._processor.apply_chat_template(
                    chat, tokenize=False, add_generation_prompt=True, **self._variables
                )
            )
        except TemplateError as error:
            raise ValueError(f"the chat template refuses the conversation: {error}") from error


_FIRST_STAND_IN, _LAST_STAND_IN = (
    0x10F000,
    0x10FFFD,
)  # of a private use area that hardly any text uses
_ZERO_WIDTH_SPACE = "\u200b"
_UNKNOWN = "\ufffd"


class SpecialTokenEscaper:
    """Escapes special tokens in the text of a question, such as ``<image>``, for one tokenizer.

    transformers' ``sanitize_control_tokens`` does not work with the processors of several families:
    they count images in the text, or need offsets. Here a special token is tokenized as plain text,
    and written as one private character per piece; ``restore_ids`` replaces the ids of these
    characters by those of the pieces.
    """

    def __init__(self, tokenizer: "PreTrainedTokenizerBase", template: str) -> None:
        """Store the tokenizer, to which tokens are added, and its chat template."""
        self._tokenizer = tokenizer
        self._template = template
        self._standing: dict[int, str] = {}  # piece -> its stand-in character
        self._pieces: dict[int, int] = {}  # token id of a stand-in -> piece

    def as_text(self, text: str) -> str:
        """Escape every special token of the template or tokenizer, and every stand-in."""
        return self._control_pattern.sub(lambda found: self._written(found[0]), text)

    def restore_ids(self, input_ids: "Tensor") -> None:
        """Replace the ids of stand-ins by those of the pieces, in place."""
        for number, piece in self._pieces.items():
            input_ids[input_ids == number] = piece

    @cached_property
    def _control_pattern(self) -> re.Pattern[str]:
        names = self._tokenizer._get_control_tokens(self._template)
        longest_first = sorted(names, key=len, reverse=True)
        stand_ins = f"[{chr(_FIRST_STAND_IN)}-{chr(_LAST_STAND_IN)}]"
        return re.compile("|".join([*map(re.escape, longest_first), stand_ins]))

    def _written(self, token: str) -> str:
        # After a newline, because some tokenizers put a blank before the first token of a text.
        newline, after_newline = (
            self._tokenizer._encode_without_added_tokens(t) for t in ("\n", f"\n{token}")
        )
        pieces = after_newline[len(newline) :] if after_newline[: len(newline)] == newline else []
        if not pieces or self._tokenizer.added_tokens_encoder.get(token) in pieces:
            # It cannot be written as text.
            return token[0] + _ZERO_WIDTH_SPACE + token[1:] if len(token) > 1 else _UNKNOWN
        return "".join(map(self._stand_in, pieces))

    def _stand_in(self, piece: int) -> str:
        if piece not in self._standing:
            from tokenizers import AddedToken

            character = chr(_FIRST_STAND_IN + len(self._standing))
            self._tokenizer.add_tokens([AddedToken(character, normalized=False, special=True)])
            self._standing[piece] = character
            self._pieces[self._tokenizer.convert_tokens_to_ids(character)] = piece
        return self._standing[piece]
