"""Prompts of vLLM: token ids and images.

vLLM's ``LLM.chat`` does the same two steps, chat template and tokenizer, and hands the tokens on
with one placeholder an image, which its processor of the family then widens. Doing them here gives
every prompt the tokens that it has with ``transformers``, and lets a question spell ``<image>``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from resources.models.transformers.inputs.prompt_tensors import PromptTensors
from resources.models.workers.conversations import Message, images_of, with_texts


@dataclass(frozen=True, slots=True, kw_only=True)
class VllmPrompt:
    """One conversation, ready for vLLM."""

    prompt: Any  # ``TokensPrompt`` of ``LLM.generate``, or messages of ``LLM.chat``
    least_tokens: int = 0  # of the prompt; vLLM may put more around images
    image_tokens: tuple[int, ...] = ()  # of each image
    note: str = ""  # what was changed so that it could be asked
    ending: str | None = None  # what the template writes behind the last text; None: vLLM knows


class TokenPrompts(PromptTensors):
    """Writes conversations as tokens with one placeholder for each image."""

    def asked(self, conversation: Sequence[Message]) -> VllmPrompt:
        """Write one conversation.

        Raises:
            ValueError: If the chat template or the processor cannot take it.
        """
        taken, ending = self._taken(conversation)
        talk, note = self._sized(taken, tried=not self._tells(taken))
        images, counts = images_of(talk), self._counted(talk)
        spelled = [with_texts(message, self._tokens_as_text.as_text) for message in talk]
        token_ids = self._token_ids(self._template.written(spelled))
        prompt: dict[str, Any] = {"prompt_token_ids": token_ids}
        if images:
            prompt["multi_modal_data"] = {"image": images}
        return VllmPrompt(
            prompt=prompt,
            least_tokens=len(token_ids) + sum(counts) - len(counts),
            image_tokens=counts,
            note=note,
            ending=ending,
        )

    def _token_ids(self, prompt: str) -> list[int]:
        """Tokenize as processors do: what begins and ends a text is added unless it is there."""
        tokenizer = self._processor.tokenizer if self._tokens else self._processor
        bos = tokenizer.bos_token
        adds = self._tokens is not None and not (bos and prompt.startswith(str(bos)))
        made = tokenizer(prompt, add_special_tokens=adds, return_tensors="pt")["input_ids"]
        self._tokens_as_text.put_back(made)
        token_ids: list[int] = made[0].tolist()
        return token_ids

    def _tells(self, talk: Sequence[Message]) -> bool:
        """Whether what images become can be told, which it cannot where they are refused."""
        return not self._tokens or len(self._counted(talk)) == len(images_of(talk))


def as_messages(conversation: Sequence[Message]) -> VllmPrompt:
    """Write a conversation as ``LLM.chat`` takes it."""
    return VllmPrompt(
        prompt=[said | {"content": list(map(_part, said["content"]))} for said in conversation]
    )


def _part(part: dict[str, Any]) -> dict[str, Any]:
    return {"type": "image_pil", "image_pil": part["image"]} if part["type"] == "image" else part
