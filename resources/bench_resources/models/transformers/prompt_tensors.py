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


_TOKEN_TYPES = "return_mm_token_type_ids"


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
        image_tokens: ImageTokens | None,
        *,
        variables: dict[str, Any],
        one_image: bool = False,
        token_types: bool = False,
    ) -> None:
        """Store the processor; ``image_tokens`` is None if it is a tokenizer.

        ``one_image``: the processor puts the image in front of the text, and takes only one.
        ``token_types``: the model takes token types, which some processors only make on request.
        """
        self._processor = processor
        self._image_tokens = image_tokens
        self._variables = variables
        self._one_image = one_image
        self._arguments = {"padding": True, **({_TOKEN_TYPES: True} if token_types else {})}
        text_only = image_tokens is None
        self._template = ChatTemplate(processor, text_only=text_only, variables=variables)
        self._minimum_sizes = MinimumSizes(processor)
        tokenizer: PreTrainedTokenizerBase = processor if text_only else processor.tokenizer
        template = processor.chat_template
        template_text = "".join(template.values()) if isinstance(template, dict) else str(template)
        self._escaper = SpecialTokenEscaper(tokenizer, template_text)

    def encode(self, conversations: Sequence[Sequence[Message]]) -> PromptBatch:
        """Make the tensors of a batch.

        Raises:
            ValueError: If the chat template or the processor cannot take a conversation.
        """
        templated = [self._choose_form(chat) for chat in conversations]
        forms = [form for form, _ in templated]
        chats, notes = self._enlarge(forms, try_images=False)
        try:
            inputs = self._inputs(chats)
        except PROCESSOR_ERRORS:
            chats, more_notes = self._enlarge(forms, try_images=True)
            if more_notes == notes:
                raise
            inputs, notes = self._inputs(chats), more_notes
        return PromptBatch(
            inputs=inputs,
            prompt_tokens=inputs["attention_mask"].sum(dim=1).tolist(),
            image_tokens=list(map(self._count_tokens, chats)),
            notes=notes,
            endings=[ending for _, ending in templated],
        )

    def _enlarge(
        self, forms: Sequence[list[Message]], *, try_images: bool
    ) -> tuple[list[list[Message]], list[str]]:
        """Enlarge the images that are refused; returns the conversations, and a note on each."""
        sizes = self._minimum_sizes
        enlarged = [sizes.enlarge_images(form, try_images=try_images) for form in forms]
        return [chat for chat, _ in enlarged], [note for _, note in enlarged]

    def _choose_form(self, chat: Sequence[Message]) -> tuple[list[Message], str]:
        """The form of a conversation that the template accepts, and the template's ending."""
        if self._one_image and len(images_of(chat)) > 1:
            raise ValueError("this family takes one image per prompt")
        return self._template.choose_form(chat)

    def _inputs(self, chats: Sequence[list[Message]]) -> "BatchFeature":
        """Apply template and processor; special tokens in texts stay text."""
        escape, arguments = self._escaper.escape, self._arguments
        inputs = self._processor.apply_chat_template(
            [[with_texts(message, escape) for message in chat] for chat in chats],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            **({"processor_kwargs": arguments} if self._image_tokens else arguments),
            **self._variables,
        )
        if "input_ids" not in inputs:  # Pix2Struct paints the text onto the image
            raise ValueError("its processor makes no tokens of a text beside an image")
        self._escaper.restore_ids(inputs["input_ids"])
        return inputs

    def _count_tokens(self, chat: Sequence[Message]) -> tuple[int, ...]:
        """Tokens of each image; () for families whose tokens cannot be counted."""
        if self._image_tokens is None:
            return ()
        try:
            return tuple(self._image_tokens.count(*image.size) for image in images_of(chat))
        except ValueError:
            return ()
