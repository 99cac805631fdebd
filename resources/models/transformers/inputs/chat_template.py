"""Chat template capabilities of a checkpoint."""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from resources.models.workers.conversations import Message, as_text, images_of, with_texts

if TYPE_CHECKING:
    from resources.models.transformers.inputs.processor import Processor

_FIRST = 0xF0000  # of a private use area that no template writes in


class ChatTemplate:
    """Applies the chat template of a processor to conversations whose texts are marked.

    Each text has a character of its own in front and one behind. So it does not matter whether the
    template trims or escapes texts, where it puts them, or whether one text is part of another.
    """

    def __init__(
        self, processor: "Processor", *, text_only: bool, variables: dict[str, Any]
    ) -> None:
        """Prepare to apply.

        Args:
            processor: With a chat template.
            text_only: It is a tokenizer, whose templates want strings.
            variables: Of the chat template.
        """
        self._processor = processor
        self._text_only = text_only
        self._variables = variables

    def taken(self, talk: Sequence[Message]) -> tuple[list[Message], str]:
        """Write turns as parts, or as strings where the template wants strings.

        Returns:
            The conversation, and what the template writes behind its last text.

        Raises:
            ValueError: If the template refuses the conversation, or leaves a text out.
        """
        why = ""
        for form in self._forms(talk):
            try:
                return form, self._ending(form)
            except (TypeError, ValueError) as error:
                why = why or str(error)
        raise ValueError(why)

    def _forms(self, talk: Sequence[Message]) -> Iterator[list[Message]]:
        if self._text_only:
            yield [as_text(message) for message in talk]
            return
        yield list(talk)
        yield [as_text(message) if message["role"] == "system" else message for message in talk]
        yield [message if images_of([message]) else as_text(message) for message in talk]

    def _ending(self, form: list[Message]) -> str:
        """Look for every text in what the template writes; give what is behind the last."""
        numbers = count()
        needed: dict[str, str] = {}  # mark -> text
        last = -1

        def marked(message: Message) -> Message:
            def between(text: str) -> str:
                if not text.strip():
                    return text  # nothing that could be missed
                opening, closing = (chr(_FIRST + next(numbers)) for _ in range(2))
                if message["role"] != "assistant":  # templates take thoughts off earlier responses
                    needed[opening] = text
                needed[closing] = text
                return f"{opening}{text}{closing}"

            return with_texts(message, between)

        written = self.written([marked(message) for message in form])
        for mark, text in needed.items():
            place = written.rfind(mark)
            if place < 0:
                raise ValueError(f"the chat template leaves out {text.strip()[:60]!r}")
            last = max(last, place)
        return written[last + 1 :]

    def written(self, talk: Sequence[Message]) -> str:
        """Write a conversation in the form that the template takes.

        Raises:
            ValueError: If the template refuses it.
        """
        from jinja2 import TemplateError

        try:
            return str(
                self._processor.apply_chat_template(
                    talk, tokenize=False, add_generation_prompt=True, **self._variables
                )
            )
        except TemplateError as why:
            raise ValueError(f"the chat template refuses the conversation: {why}") from why
