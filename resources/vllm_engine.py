"""The engine that hands a checkpoint to vLLM, in this process; vllm is imported inside.

Written for the offline API (``LLM.chat``) as it is in the sources of vLLM 0.28, 0.30 and 0.33.
"""

import gc
import json
import time
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench_assets.core.chat import Decoding, Reply, Request
from bench_assets.core.errors import ModelError
from resources.batches import Batches, Draw
from resources.checkpoints import Checkpoint, first_line, pin
from resources.engine import ReadImage
from resources.model_specs import VllmSpec
from resources.transformers_prompts import Message

if TYPE_CHECKING:
    from vllm import LLM, RequestOutput

_BROKEN_OFF = {None, "abort", "error"}
_WHILE_LOADING = (
    AssertionError,
    ImportError,
    KeyError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)


class VllmModel:
    """Weights that vLLM holds, on one or several GPUs."""

    def __init__(self, llm: "LLM") -> None:
        self._llm = llm

    def answer(self, conversations: Sequence[Sequence[Message]], draw: Draw) -> list[Reply]:
        """Generate the next turn of each conversation.

        ``seconds`` is the batch's time divided by its size: what a reply cost.

        Raises:
            ValueError: If vLLM refuses a conversation, such as one that is too long, or breaks a
                reply off.
            ModelError: If its engine has died.
        """
        from vllm import SamplingParams
        from vllm.exceptions import VLLMError, VLLMServerError

        start = time.perf_counter()
        try:
            params = [
                SamplingParams(
                    temperature=draw.temperature,
                    top_p=draw.top_p,
                    max_tokens=draw.max_tokens,
                    seed=seed,
                )
                for seed in draw.seed_numbers
            ]
            outputs = self._llm.chat(
                [[_as_vllm_takes_it(said) for said in talk] for talk in conversations],
                params,
                use_tqdm=False,
            )
        except VLLMServerError as why:
            raise ModelError(f"vLLM cannot go on: {first_line(why)}") from why
        except VLLMError as why:
            raise ValueError(first_line(why)) from why
        seconds = (time.perf_counter() - start) / len(conversations)
        return [_reply(output, seconds) for output in outputs]


def load(spec: VllmSpec, checkpoint: Checkpoint) -> VllmModel:
    """Load a checkpoint onto the GPUs.

    Raises:
        ModelError: If vLLM is not installed, or does not load the checkpoint.
    """
    try:
        from vllm import LLM
        from vllm.exceptions import VLLMError
    except ImportError as why:
        raise ModelError(f"kind vllm needs pip install '.[vllm]': {first_line(why)}") from why
    ours = _arguments(spec, checkpoint)
    try:
        # An argument that is in both is a TypeError, like one that vLLM does not know.
        return VllmModel(LLM(**ours, **{"enable_prefix_caching": True, **spec.extra}))
    except (*_WHILE_LOADING, VLLMError) as why:
        raise ModelError(
            f"{checkpoint.location}: vLLM does not load it: {first_line(why)}"
        ) from why


class VllmEngine:
    """Runs a checkpoint with vLLM; weights are loaded at the first request.

    vLLM runs requests side by side as room becomes free, and keeps what it computed of a beginning
    that prompts share (instructions, the earlier turns of a conversation) as long as there is room.
    What shares a step differs from run to run, so that a near-tie may fall the other way, as in
    batches on a GPU.

    Two things differ from ``TransformersEngine``. A text that spells a special token of the
    checkpoint, such as ``<image>``, is read as that token: ``LLM.chat`` cannot say otherwise. And
    replies are drawn by vLLM's generators, so that the same seed draws others.
    """

    def __init__(self, spec: VllmSpec, location: str, read_image: ReadImage) -> None:
        """Prepare to load ``location``: a folder or a hub id."""
        self._spec = spec
        self._location = location
        self._batches = Batches(spec, read_image, lambda: load(spec, self._checkpoint))

    @cached_property
    def identity(self) -> str:
        """Content or commit of the checkpoint, precision, and what changes the arithmetic.

        vLLM's name is part of it, since its kernels round in their own way; its version is not,
        as little as that of transformers or torch: an upgrade would ask everything anew for the
        sake of near-ties. ``extra`` is part of it whole, because anything may be in it.

        Raises:
            ModelError: If there is no such checkpoint or it is incomplete.
        """
        spec = self._spec
        parts = [self._checkpoint.content, spec.dtype, "vllm"]
        parts += [f"px={limit}"] if (limit := spec.max_image_pixels) else []
        parts += [f"len={limit}"] if (limit := spec.max_model_len) else []
        parts += [f"tp={gpus}"] if (gpus := spec.tensor_parallel_size) > 1 else []
        parts += ["text_only"] if spec.text_only else []
        parts += [json.dumps(spec.extra, sort_keys=True)] if spec.extra else []
        return ",".join(parts)

    @property
    def decoding(self) -> Decoding:
        """How replies are drawn where a request does not say otherwise."""
        return self._spec.decoding

    @property
    def peak_memory(self) -> int | None:
        """Not known: vLLM takes the configured share of a GPU from the start."""
        return None

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """Answer requests batch by batch; yields position and reply.

        Raises:
            ModelError: If the checkpoint is incomplete or does not load, or vLLM breaks down.
        """
        yield from self._batches.stream(requests)

    def close(self) -> None:
        """Give back the memory; a later request loads the weights again."""
        self._batches.close()
        gc.collect()  # vLLM ends its processes when its last object goes

    @cached_property
    def _checkpoint(self) -> Checkpoint:
        return pin(self._location, self._spec.revision)


def _arguments(spec: VllmSpec, checkpoint: Checkpoint) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "model": checkpoint.location,
        "dtype": spec.dtype,
        "seed": spec.seed or 0,
        "gpu_memory_utilization": spec.gpu_memory_utilization,
        "tensor_parallel_size": spec.tensor_parallel_size,
        "trust_remote_code": spec.trust_remote_code,
    }
    if not Path(checkpoint.location).is_dir():
        arguments["revision"] = checkpoint.revision
    if spec.max_model_len:
        arguments["max_model_len"] = spec.max_model_len
    if not spec.text_only:
        arguments["interleave_mm_strings"] = True  # pictures stay where the prompt has them
    if spec.images_per_prompt:
        arguments["limit_mm_per_prompt"] = {"image": spec.images_per_prompt}
    return arguments


def _as_vllm_takes_it(said: Message) -> Message:
    content = [
        {"type": "image_pil", "image_pil": part["image"]} if part["type"] == "image" else part
        for part in said["content"]
    ]
    return said | {"content": content}


def _reply(output: "RequestOutput", seconds: float) -> Reply:
    (said,) = output.outputs
    if said.finish_reason in _BROKEN_OFF:
        raise ValueError(f"vLLM broke the reply off ({said.finish_reason})")
    return Reply(
        text=said.text,
        finish_reason=said.finish_reason,
        prompt_tokens=len(output.prompt_token_ids or ()),
        completion_tokens=len(said.token_ids),
        seconds=seconds,
    )
