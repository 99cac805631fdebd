"""Tensors of conversations, from a chat template and a processor."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench_resources.models.transformers.chat_template import ChatTemplate, SpecialTokenEscaper
from bench_resources.models.transformers.image_tokens import (
    PROCESSOR_ERRORS,
    ImageTokens,
    MinimumSizes,
)
from bench_resources.models.workers.local_model import Message, images_of, with_texts

if TYPE_CHECKING:
    from transformers import BatchFeature, PreTrainedTokenizerBase

    from bench_resources.models.transformers.processor import Processor


_TYPES = "return_mm_token_type_ids"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptBatch:
    """Tensors of a batch, and facts about its prompts."""

    inputs: "BatchFeature"  # on the CPU, padded
    prompt_tokens: Sequence[int]  # without padding
    image_tokens: Sequence[tuple[int, ...]]  # of each image, if they can be counted
    notes: Sequence[str]  # changes to a conversation, such as resized images
    endings: Sequence[str]  # what the chat template writes after the last text of each


class PromptTensors:
    """Applies chat template and processor; for one thread at a time.

    Special tokens in a question are encoded as text. A text that the template drops, or an image
    that the processor refuses, is an error.
    """

    def __init__(
        self,
        processor: "Processor",
        tokens: ImageTokens | None,
        *,
        variables: dict[str, Any],
        one_image: bool = False,
        token_types: bool = False,
    ) -> None:
        """Store the processor; ``tokens`` is None if it is a tokenizer.

        ``one_image``: the processor puts the image in front of the text, and takes only one.
        ``token_types``: the model takes token types, which some processors only make on request.
        """
        self._processor = processor
        self._tokens = tokens
        self._variables = variables
        self._one_image = one_image
        self._settings = {"padding": True, **({_TYPES: True} if token_types else {})}
        text_only = tokens is None
        self._template = ChatTemplate(processor, text_only=text_only, variables=variables)
        self._sizes = MinimumSizes(processor)
        tokenizer: PreTrainedTokenizerBase = processor if text_only else processor.tokenizer
        template = processor.chat_template
        literal = "".join(template.values()) if isinstance(template, dict) else str(template)
        self._tokens_as_text = SpecialTokenEscaper(tokenizer, literal)

    def of(self, conversations: Sequence[Sequence[Message]]) -> PromptBatch:
        """Make the tensors of a batch.

        Raises:
            ValueError: If the chat template or the processor cannot take a conversation.
        """
        templated = [self._taken(chat) for chat in conversations]
        sized = [self._sizes.enlarge_images(chat, tried=False) for chat, _ in templated]
        try:
            inputs = self._inputs([chat for chat, _ in sized])
        except PROCESSOR_ERRORS:
            previous, sized = (
                sized,
                [self._sizes.enlarge_images(chat, tried=True) for chat, _ in templated],
            )
            if [note for _, note in sized] == [note for _, note in previous]:
                raise
            inputs = self._inputs([chat for chat, _ in sized])
        return PromptBatch(
            inputs=inputs,
            prompt_tokens=inputs["attention_mask"].sum(dim=1).tolist(),
            image_tokens=[self._counted(chat) for chat, _ in sized],
            notes=[note for _, note in sized],
            endings=[ending for _, ending in templated],
        )

    def _taken(self, chat: Sequence[Message]) -> tuple[list[Message], str]:
        if self._one_image and len(images_of(chat)) > 1:
            raise ValueError("this family takes one image per prompt")
        return self._template.taken(chat)

    def _inputs(self, conversations: Sequence[list[Message]]) -> "BatchFeature":
        settings = self._settings
        spelled = self._tokens_as_text.as_text
        inputs = self._processor.apply_chat_template(
            [[with_texts(message, spelled) for message in chat] for chat in conversations],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            **({"processor_kwargs": settings} if self._tokens else settings),
            **self._variables,
        )
        if "input_ids" not in inputs:  # Pix2Struct paints the text onto the image
            raise ValueError("its processor makes no tokens of a text beside an image")
        self._tokens_as_text.restore_ids(inputs["input_ids"])
        return inputs

    def _counted(self, chat: Sequence[Message]) -> tuple[int, ...]:
        """Tokens of the images; () for families whose tokens cannot be counted."""
        try:
            return tuple(self._tokens.of(*p.size) for p in images_of(chat)) if self._tokens else ()
        except ValueError:
            return ()
