"""A checkpoint in vLLM, for its offline API (``LLM.generate``, ``LLM.chat``) of 0.28 to 0.33.

``LLM.chat`` applies chat template and tokenizer itself; doing both here gives every prompt the
tokens that it has with ``transformers``, and keeps an ``<image>`` in a question as text.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import TYPE_CHECKING, Any

from PIL import Image as PILImage

from bench_assets.core.reading.reasoning import find_opening_tag
from bench_assets.core.schema.chat import Response
from bench_assets.core.schema.elicitation import OptionLikelihoods
from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.hub_access import first_line
from bench_resources.checkpoints.identity import Checkpoint
from bench_resources.config.sections.local_models import PLAIN_TEMPLATE, VllmSpec
from bench_resources.models.transformers.detokenization import ResponseTexts
from bench_resources.models.transformers.image_tokens import ImageTokens
from bench_resources.models.transformers.loading import LOADING_ERRORS
from bench_resources.models.transformers.option_scores import option_tokens, refuse_open_reasoning
from bench_resources.models.transformers.processor import load_processor, takes_one_image
from bench_resources.models.transformers.prompt_tensors import PromptTensors
from bench_resources.models.vllm.loading import arguments, link_into_folder, refuse_infinite_files
from bench_resources.models.workers.local_model import (
    ContextFullError,
    Draw,
    Message,
    images_of,
    with_texts,
)

if TYPE_CHECKING:
    from vllm import LLM, RequestOutput, SamplingParams


@dataclass(frozen=True, slots=True, kw_only=True)
class VllmPrompt:
    """A conversation, ready for vLLM."""

    prompt: Any  # ``TokensPrompt`` of ``LLM.generate``, or messages of ``LLM.chat``
    least_tokens: int = 0  # of the prompt; vLLM may put more around images
    image_tokens: tuple[int, ...] = ()  # of each image
    note: str = ""  # changes to the conversation, such as resized images
    ending: str | None = None  # what the template writes after the last text; None: see the output


class TokenPrompts(PromptTensors):
    """Encodes conversations as tokens with one placeholder per image."""

    def asked(self, conversation: Sequence[Message]) -> VllmPrompt:
        """Encode one conversation.

        Raises:
            ValueError: If the chat template or the processor cannot take it.
        """
        templated, ending = self._taken(conversation)
        talk, note = self._resize_images(templated, tried=not self._has_known_counts(templated))
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
        """Tokenize as processors do: bos is added unless the text has it."""
        tokenizer = self._processor.tokenizer if self._tokens else self._processor
        bos = tokenizer.bos_token
        adds = self._tokens is not None and not (bos and prompt.startswith(str(bos)))
        ids = tokenizer(prompt, add_special_tokens=adds, return_tensors="pt")["input_ids"]
        self._tokens_as_text.restore_ids(ids)
        token_ids: list[int] = ids[0].tolist()
        return token_ids

    def _has_known_counts(self, talk: Sequence[Message]) -> bool:
        """Whether the tokens of all images are known."""
        return not self._tokens or len(self._counted(talk)) == len(images_of(talk))


def as_messages(conversation: Sequence[Message]) -> VllmPrompt:
    """Convert a conversation to messages of ``LLM.chat``."""
    return VllmPrompt(
        prompt=[
            message | {"content": list(map(_part, message["content"]))} for message in conversation
        ]
    )


def _part(part: dict[str, Any]) -> dict[str, Any]:
    return {"type": "image_pil", "image_pil": part["image"]} if part["type"] == "image" else part


_INTERRUPTED = {None, "abort", "error"}


class VllmModel:
    """Weights in vLLM, on one or several GPUs."""

    def __init__(
        self,
        llm: "LLM",
        spec: VllmSpec,
        *,
        prompts: TokenPrompts | None,
        adapter: str = "",
        files: "TemporaryDirectory[str] | None" = None,
    ) -> None:
        """Wrap an LLM; without ``prompts``, vLLM encodes the conversations.

        ``files`` keeps the folder of the weights alive.
        """
        self._llm = llm
        self._spec = spec
        self._prompts = prompts
        self._one_at_a_time = Lock()  # tokenizers are not thread-safe
        self._adapter = adapter
        self._files = files
        self._texts = ResponseTexts(llm.get_tokenizer(), frozenset(), spec.thinking_tags)
        self._context = int(llm.model_config.max_model_len)

    def weight(self, images: Sequence[PILImage.Image]) -> int:
        """Always 0: vLLM forms its own batches."""
        return 0

    def prepare(self, conversations: Sequence[Sequence[Message]]) -> list[VllmPrompt]:
        """Encode conversations."""
        if self._prompts is None:
            return [as_messages(talk) for talk in conversations]
        with self._one_at_a_time:
            return [self._prompts.asked(talk) for talk in conversations]

    def answer(self, prepared: list[VllmPrompt], draw: Draw) -> list[Response]:
        """Generate the next turn of each conversation.

        ``seconds`` is the batch's time divided by its size.
        """
        start = time.perf_counter()
        if draw.elicit == "likelihood":
            responses = self._likelihoods(prepared, draw)
        else:
            for vllm_prompt in prepared:
                self._refuse_too_long(vllm_prompt.least_tokens, draw.max_tokens)
            outputs = self._outputs(prepared, _params(draw))
            pairs = zip(outputs, prepared, strict=True)
            responses = [self._response(output, vllm_prompt, draw) for output, vllm_prompt in pairs]
        seconds = (time.perf_counter() - start) / len(prepared)
        return [replace(response, seconds=seconds) for response in responses]

    def _likelihoods(self, prepared: list[VllmPrompt], draw: Draw) -> list[Response]:
        """Log-probabilities of options, each appended to the prompt."""
        if self._prompts is None:
            raise ModelError('likelihoods need prompts = "checkpoint" (vLLM encodes the prompts)')
        refuse_open_reasoning([one.ending or "" for one in prepared], self._spec.thinking_tags)
        delimiter = " " if self._spec.chat_template == PLAIN_TEMPLATE else ""
        tokenizer = self._llm.get_tokenizer()
        options = [
            option_tokens(tokenizer, vllm_prompt.ending or "", texts, delimiter)
            for vllm_prompt, texts in zip(prepared, draw.options, strict=True)
        ]
        for vllm_prompt, of in zip(prepared, options, strict=True):
            self._refuse_too_long(vllm_prompt.least_tokens + max(map(len, of)), max_tokens=1)
        longer = [
            replace(
                vllm_prompt,
                prompt=vllm_prompt.prompt
                | {"prompt_token_ids": [*vllm_prompt.prompt["prompt_token_ids"], *tokens]},
            )
            for vllm_prompt, of in zip(prepared, options, strict=True)
            for tokens in of
        ]
        outputs = iter(self._outputs(longer, _prompt_params(len(longer))))
        found = [[logprob_of(next(outputs), tokens) for tokens in of] for of in options]
        return [
            Response(
                text=OptionLikelihoods(tuple(sums), tuple(map(len, of))).to_json(),
                finish_reason="stop",
                prompt_tokens=vllm_prompt.least_tokens,
                completion_tokens=max(map(len, of)),
                image_tokens=vllm_prompt.image_tokens,
                note=vllm_prompt.note,
            )
            for vllm_prompt, of, sums in zip(prepared, options, found, strict=True)
        ]

    def _outputs(
        self, asked: list[VllmPrompt], params: list["SamplingParams"]
    ) -> list["RequestOutput"]:
        from vllm.exceptions import VLLMError, VLLMServerError
        from vllm.lora.request import LoRARequest

        prompts = [one.prompt for one in asked]
        more: dict[str, Any] = {"use_tqdm": False}
        if self._adapter:
            more["lora_request"] = LoRARequest("adapter", 1, self._adapter)
        try:
            if self._prompts is not None:
                return list(self._llm.generate(prompts, params, **more))
            return list(self._llm.chat(prompts, params, **more, **_template(self._spec)))
        except VLLMServerError as error:
            raise ModelError(f"vLLM failed: {first_line(error)}") from error
        except VLLMError as error:
            raise ValueError(first_line(error)) from error

    def _response(self, output: "RequestOutput", vllm_prompt: VllmPrompt, draw: Draw) -> Response:
        (completion,) = output.outputs
        n_prompt = len(output.prompt_token_ids or ())
        if completion.finish_reason in _INTERRUPTED:
            raise ValueError(f"vLLM ended the response ({completion.finish_reason})")
        # vLLM may add more around images than estimated.
        self._refuse_too_long(n_prompt, draw.max_tokens)
        tokens = list(completion.token_ids)
        kept = (
            tokens[:-1] if completion.finish_reason == "stop" else tokens
        )  # without the end token
        ending = (output.prompt or "") if vllm_prompt.ending is None else vllm_prompt.ending
        return Response(
            text=find_opening_tag(ending, self._spec.thinking_tags) + self._texts.of(kept),
            finish_reason=completion.finish_reason,
            prompt_tokens=n_prompt,
            completion_tokens=len(tokens),
            image_tokens=vllm_prompt.image_tokens,
            note=vllm_prompt.note,
        )

    def _refuse_too_long(self, n_prompt: int, max_tokens: int) -> None:
        if n_prompt + max_tokens > self._context:
            raise ContextFullError(
                f"the prompt has {n_prompt} tokens, which with max_tokens = {max_tokens}"
                f" exceed the context of {self._context} tokens"
            )


def load(spec: VllmSpec, checkpoint: Checkpoint) -> VllmModel:
    """Load a checkpoint onto the GPUs.

    Raises:
        ModelError: If vLLM is not installed, cannot load the whole checkpoint, or it contains NaN.
    """
    try:
        from vllm import LLM
        from vllm.exceptions import VLLMError
    except ImportError as error:
        raise ModelError(f"kind vllm needs pip install '.[vllm]': {first_line(error)}") from error
    refuse_infinite_files(checkpoint)
    files = link_into_folder(checkpoint)
    llm_arguments = arguments(spec, checkpoint, files.name if files else checkpoint.location)
    prompts = _prompts(spec, checkpoint) if spec.prompts == "checkpoint" else None
    try:
        # A duplicate argument is a TypeError, like an unknown one.
        llm = LLM(**llm_arguments, **{"enable_prefix_caching": True, **spec.extra})
    except (*LOADING_ERRORS, VLLMError) as error:
        raise ModelError(
            f"{checkpoint.location}: vLLM does not load it: {first_line(error)}"
        ) from error
    return VllmModel(llm, spec, prompts=prompts, adapter=checkpoint.adapter, files=files)


def logprob_of(output: "RequestOutput", tokens: Sequence[int]) -> float:
    """Sum the log-probabilities of the last tokens of a prompt.

    Raises:
        ValueError: If vLLM does not return them.
    """
    logprobs = (output.prompt_logprobs or [])[-len(tokens) :]
    if len(logprobs) < len(tokens):
        raise ValueError("vLLM returned no prompt_logprobs")
    pairs = zip(logprobs, tokens, strict=True)
    return float(sum(of[token].logprob for of, token in pairs if of is not None))


def _prompt_params(n: int) -> list["SamplingParams"]:
    """Parameters of requests for the log-probabilities of the prompt."""
    from vllm import SamplingParams

    return [
        SamplingParams(temperature=0.0, max_tokens=1, prompt_logprobs=1, detokenize=False)
        for _ in range(n)
    ]


def _choices(draw: Draw) -> list[dict[str, Any]]:
    """Further parameters of each response: the options of constrained generation."""
    if draw.elicit != "constrained":
        return [{} for _ in draw.seeds]
    from vllm.sampling_params import StructuredOutputsParams

    return [
        {"structured_outputs": StructuredOutputsParams(choice=list(texts))}
        for texts in draw.options
    ]


def _params(draw: Draw) -> list["SamplingParams"]:
    """Sampling parameters of each response; no default of the checkpoint applies."""
    from vllm import SamplingParams
    from vllm.exceptions import VLLMError

    try:
        return [
            SamplingParams(
                temperature=draw.temperature,
                top_p=draw.top_p,
                top_k=int(draw.rest.get("top_k", 0)),
                min_p=float(draw.rest.get("min_p", 0.0)),
                repetition_penalty=float(draw.rest.get("repetition_penalty", 1.0)),
                max_tokens=draw.max_tokens,
                seed=seed,
                detokenize=False,  # ResponseTexts keeps the special tokens around reasoning
                **choice,
            )
            for seed, choice in zip(draw.seed_numbers, _choices(draw), strict=True)
        ]
    except VLLMError as error:
        raise ValueError(first_line(error)) from error


def _prompts(spec: VllmSpec, checkpoint: Checkpoint) -> TokenPrompts:
    try:
        processor = load_processor(spec, checkpoint)
    except LOADING_ERRORS as error:
        raise ModelError(
            f"{checkpoint.location}: its processor does not load: {first_line(error)}; where only "
            'vLLM knows the family, set prompts = "vllm"'
        ) from error
    return TokenPrompts(
        processor,
        None if spec.text_only else ImageTokens(processor),
        variables=spec.chat_template_kwargs,
        max_image_tokens=spec.max_image_tokens,
        one_image=takes_one_image(spec, processor),
    )


def _template(spec: VllmSpec) -> dict[str, Any]:
    """Arguments of ``LLM.chat`` for the chat template."""
    more: dict[str, Any] = {}
    if spec.chat_template:
        file = Path(spec.chat_template).expanduser()
        try:
            more["chat_template"] = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ModelError(f"chat_template {file}: {first_line(error)}") from error
    if spec.chat_template_kwargs:
        more["chat_template_kwargs"] = spec.chat_template_kwargs
    return more
