"""Chat templates, and escaping of special tokens in questions."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from itertools import count
from typing import TYPE_CHECKING, Any

from bench_resources.models.workers.local_model import Message, as_text, images_of, with_texts

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedTokenizerBase

    from bench_resources.models.transformers.processor import Processor


_FIRST_MARK = 0xF0000  # code point of a private use area that no template uses


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

    def choose_form(self, chat: Sequence[Message]) -> tuple[list[Message], str]:
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
        """Forms of a chat that templates accept, with parts as far as possible."""
        if self._text_only:
            yield [as_text(message) for message in chat]
            return
        yield list(chat)
        yield [as_text(message) if message["role"] == "system" else message for message in chat]
        yield [message if images_of([message]) else as_text(message) for message in chat]

    def _find_ending(self, form: list[Message]) -> str:
        """Verify that every text appears; returns what follows the last one."""
        marked_form, text_by_mark = _mark_texts(form)
        rendered = self.render(marked_form)
        for mark, text in text_by_mark.items():
            if mark not in rendered:
                raise ValueError(f"the chat template leaves out {text.strip()[:60]!r}")
        last = max(map(rendered.rfind, text_by_mark), default=-1)
        return rendered[last + 1 :]

    def render(self, chat: Sequence[Message]) -> str:
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


def _mark_texts(form: Sequence[Message]) -> tuple[list[Message], dict[str, str]]:
    """Mark texts that are not blank; returns the marks that a template must keep, too."""
    marks = map(chr, count(_FIRST_MARK))
    text_by_mark: dict[str, str] = {}

    def mark_text(role: str, text: str) -> str:
        if not text.strip():
            return text
        opening, closing = next(marks), next(marks)
        if role != "assistant":  # templates cut reasoning from earlier responses
            text_by_mark[opening] = text
        text_by_mark[closing] = text
        return f"{opening}{text}{closing}"

    marked = [with_texts(message, partial(mark_text, message["role"])) for message in form]
    return marked, text_by_mark


_FIRST_STAND_IN = 0x10F000  # first of the private code points, rare in texts, that are used
_LAST_STAND_IN = 0x10FFFD  # last of these code points
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
        self._stand_ins: dict[int, str] = {}  # id of a piece -> its stand-in character
        self._piece_ids: dict[int, int] = {}  # id of a stand-in -> id of its piece

    def escape(self, text: str) -> str:
        """Escape every special token of the template or tokenizer, and every stand-in."""
        return self._control_pattern.sub(lambda match: self._spell_out(match[0]), text)

    def restore_ids(self, input_ids: "Tensor") -> None:
        """Replace the ids of stand-ins by those of the pieces, in place."""
        for stand_in_id, piece_id in self._piece_ids.items():
            input_ids[input_ids == stand_in_id] = piece_id

    @cached_property
    def _control_pattern(self) -> re.Pattern[str]:
        """Matches a special token, the longest first, or a stand-in."""
        names = self._tokenizer._get_control_tokens(self._template)
        longest_first = sorted(names, key=len, reverse=True)
        stand_ins = f"[{chr(_FIRST_STAND_IN)}-{chr(_LAST_STAND_IN)}]"
        return re.compile("|".join([*map(re.escape, longest_first), stand_ins]))

    def _spell_out(self, token: str) -> str:
        """A stand-in for each piece of a token; without pieces, the token broken up."""
        # After a newline, because some tokenizers put a blank before the first token of a text.
        encode = self._tokenizer._encode_without_added_tokens
        newline, after_newline = encode("\n"), encode(f"\n{token}")
        n = len(newline)
        piece_ids = after_newline[n:] if after_newline[:n] == newline else []
        if piece_ids and self._tokenizer.added_tokens_encoder.get(token) not in piece_ids:
            return "".join(map(self._stand_in, piece_ids))
        return token[0] + _ZERO_WIDTH_SPACE + token[1:] if len(token) > 1 else _UNKNOWN

    def _stand_in(self, piece_id: int) -> str:
        """The stand-in character of a piece, added to the tokenizer at its first use."""
        if piece_id not in self._stand_ins:
            from tokenizers import AddedToken

            character = chr(_FIRST_STAND_IN + len(self._stand_ins))
            self._tokenizer.add_tokens([AddedToken(character, normalized=False, special=True)])
            self._stand_ins[piece_id] = character
            self._piece_ids[self._tokenizer.convert_tokens_to_ids(character)] = piece_id
        return self._stand_ins[piece_id]
