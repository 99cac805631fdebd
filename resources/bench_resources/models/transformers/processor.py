"""Loads a checkpoint's processor, without its video half.

The video half needs torchvision even where the images do not.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from PIL import Image as PILImage

from bench_assets.core.extras import require_extra
from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.files import has_image_processor, has_tokenizer, read_object
from bench_resources.checkpoints.hub_access import find_file, first_line, hub_access
from bench_resources.checkpoints.identity import Checkpoint
from bench_resources.checkpoints.model_kinds import describe_wrong_kind
from bench_resources.checkpoints.torchvision_operators import enable_torchvision
from bench_resources.config.environment import expand_user
from bench_resources.config.sections.local_models import PLAIN_TEMPLATE, TransformersSpec
from bench_resources.models.transformers.image_tokens import PROCESSOR_ERRORS

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase, ProcessorMixin

    Processor: TypeAlias = ProcessorMixin | PreTrainedTokenizerBase


_PLAIN_TEMPLATE = (
    "{% for message in messages %}{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}IMAGE{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% if not loop.last %}{{ '\\n' }}{% endif %}{% endfor %}"
)
"""Texts and images one after the other, one line per turn, for base models to continue."""

_CLASS_FILES = (
    "processor_config.json",
    "preprocessor_config.json",
    "video_preprocessor_config.json",
    "tokenizer_config.json",
)
_VIDEO_PROCESSOR = "video_processor"
_PROCESSOR_ADVICE = (
    "Set processor to the folder or hub id of the checkpoint that it was trained from"
)
_NO_PROCESSOR = (
    "no processor of texts and images (processor_config.json or preprocessor_config.json)."
    f" {_PROCESSOR_ADVICE}"
)


@hub_access()
def load_processor(spec: TransformersSpec, checkpoint: Checkpoint) -> "Processor":
    """Load a processor, or the tokenizer of a text-only model; pads on the left.

    Raises:
        ModelError: If torchvision or another package is missing or broken, or the chat template is
            missing or unreadable.
        ValueError: If the kind of model is wrong, or tokenizer or image processor is missing.
        Exception: Errors of transformers for invalid files.
    """
    enable_torchvision()
    location = checkpoint.processor or checkpoint.location
    _refuse_unloadable(spec, checkpoint, Path(location))
    origin: dict[str, Any] = {"trust_remote_code": spec.trust_remote_code}
    if not Path(location).is_dir():
        origin["revision"] = checkpoint.processor_revision or checkpoint.revision
    if spec.gguf_file and not checkpoint.processor:
        origin["gguf_file"] = spec.gguf_file
    if spec.text_only:
        from transformers import AutoTokenizer

        processor = tokenizer = AutoTokenizer.from_pretrained(location, **origin)
    else:
        processor = _load_multimodal(location, origin, spec.processor_kwargs)
        tokenizer = getattr(processor, "tokenizer", None)
        if tokenizer is None or not hasattr(processor, "image_processor"):
            # What AutoProcessor returns if one half is missing.
            raise ValueError(_NO_PROCESSOR)
    tokenizer.padding_side = "left"
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    processor.chat_template = _chat_template(spec, processor, tokenizer)
    if not processor.chat_template:
        raise ModelError(
            f"{location}: has no chat template. Set chat_template to a file, or to "
            '"plain" for a base model'
        )
    return processor


def _refuse_unloadable(spec: TransformersSpec, checkpoint: Checkpoint, processor: Path) -> None:
    """Refuse kinds of models that cannot be evaluated, and folders without a processor.

    Trainers leave folders without a tokenizer or an image processor.
    """
    if spec.gguf_file:
        return
    config = _read_config(checkpoint.location, "config.json", checkpoint.revision)
    if reason := describe_wrong_kind(config, text_only=spec.text_only):
        raise ValueError(reason)
    if "auto_map" in config or not processor.is_dir():
        return  # its own code, or the hub's files, decide
    if not has_tokenizer(processor):
        raise ValueError(f"no tokenizer (tokenizer.json). {_PROCESSOR_ADVICE}")
    if not spec.text_only and not has_image_processor(processor):
        raise ValueError(_NO_PROCESSOR)


def _read_config(location: str, name: str, revision: str | None) -> dict[str, Any]:
    """A JSON object of a checkpoint; {} without the file."""
    file = find_file(location, name, revision)
    return read_object(file) if file else {}


def _load_multimodal(
    location: str, origin: dict[str, Any], arguments: dict[str, Any]
) -> "ProcessorMixin | PreTrainedTokenizerBase":
    """Load a processor of texts and images, without its video half if it has one."""
    from transformers import AutoProcessor
    from transformers.utils import is_torchvision_available

    try:
        processor_class = _find_processor_class(location, origin)
        parts = processor_class.get_attributes() if processor_class else ()
        if _VIDEO_PROCESSOR in parts and "image_processor" not in parts:
            raise ValueError("it responds to videos and takes no images: no benchmark here applies")
        if _VIDEO_PROCESSOR in parts:
            return _without_video(processor_class).from_pretrained(location, **origin, **arguments)
        return AutoProcessor.from_pretrained(location, **origin, **arguments)
    except (ImportError, ValueError) as error:
        if "torchvision" in str(error).lower() and not is_torchvision_available():
            require_extra(f"{location}, for its images,", "torchvision")
        raise


def _find_processor_class(location: str, origin: dict[str, Any]) -> Any:  # noqa: ANN401 - a class of transformers
    """The class that a checkpoint names, or else that of its model; None if it brings its own."""
    from transformers import PROCESSOR_MAPPING, AutoConfig
    from transformers.models.auto.processing_auto import processor_class_from_name

    for name in _CLASS_FILES:
        config = _read_config(location, name, origin.get("revision"))
        if "AutoProcessor" in config.get("auto_map", {}) and origin["trust_remote_code"]:
            return None
        if processor_class := processor_class_from_name(config.get("processor_class") or ""):
            return processor_class
    config_class = type(AutoConfig.from_pretrained(location, **origin))
    return PROCESSOR_MAPPING.get(config_class, None)


def _without_video(processor_class: Any) -> Any:  # noqa: ANN401 - a class of transformers
    """Make a subclass that loads everything but a video processor.

    transformers reads the list of parts twice: for the parts to load, which here lack the video
    processor, and for the positional arguments of the constructor, which must be complete.
    """
    attributes = list(processor_class.get_attributes())
    loaded_attributes = [name for name in attributes if name != _VIDEO_PROCESSOR]

    class Constructed(processor_class):  # type: ignore[misc]
        def check_argument_for_proper_class(self, name: str, argument: object) -> Any:  # noqa: ANN401
            if name == _VIDEO_PROCESSOR:
                return _VideoPlaceholder
            return super().check_argument_for_proper_class(name, argument)

        def to_dict(self) -> dict[str, Any]:
            return {name: v for name, v in super().to_dict().items() if name != _VIDEO_PROCESSOR}

    class WithoutVideo(processor_class):  # type: ignore[misc]
        @classmethod
        def get_attributes(cls) -> list[str]:
            return loaded_attributes

        @classmethod
        def from_args_and_dict(
            cls,
            args: Iterable[Any],
            processor_dict: dict[str, Any],
            **kwargs: Any,  # noqa: ANN401
        ) -> Any:  # noqa: ANN401
            parts = dict(zip(loaded_attributes, args, strict=True))
            parts[_VIDEO_PROCESSOR] = _VideoPlaceholder()
            all_args = [parts[name] for name in attributes]
            return Constructed.from_args_and_dict(all_args, processor_dict, **kwargs)

    # transformers looks up by name.
    Constructed.__name__ = WithoutVideo.__name__ = processor_class.__name__
    return WithoutVideo


class _VideoPlaceholder:
    """Placeholder that processors read video settings from."""

    model_input_names: tuple[str, ...] = ()

    def __getattr__(self, name: str) -> None:
        if name.startswith("__"):
            raise AttributeError(name)


def _chat_template(
    spec: TransformersSpec, processor: "Processor", tokenizer: "PreTrainedTokenizerBase"
) -> str | dict[str, str] | None:
    """The configured chat template, or the checkpoint's own."""
    if not spec.chat_template:
        template: str | dict[str, str] | None = processor.chat_template or tokenizer.chat_template
        return template
    if spec.chat_template == PLAIN_TEMPLATE:
        return _PLAIN_TEMPLATE.replace("IMAGE", "" if spec.text_only else _placeholder(processor))
    try:
        return expand_user(spec.chat_template).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"chat_template {spec.chat_template}: {first_line(error)}") from error


def _placeholder(processor: "Processor") -> str:
    """The image placeholder; "" where the processor adds it (BLIP-2, Florence-2)."""
    token = str(getattr(processor, "image_token", ""))
    n_text = len(processor.tokenizer("a")["input_ids"])
    n_without, n_with = _prompt_length(processor, "a"), _prompt_length(processor, f"{token}a")
    if n_without is None or n_without <= n_text:
        return token
    is_added = n_with is None or n_with > n_without
    return "" if is_added else token


def takes_one_image(spec: TransformersSpec, processor: "Processor") -> bool:
    """Whether the processor puts the image in front of the text, and takes only one."""
    if spec.text_only or spec.chat_template != PLAIN_TEMPLATE:
        return False
    token = str(getattr(processor, "image_token", ""))
    return not token or token not in str(processor.chat_template)


def _prompt_length(processor: "Processor", text: str) -> int | None:
    """Tokens of a text with an image; None if the processor refuses it."""
    arguments = {"images": [[PILImage.new("RGB", (64, 64))]], "return_tensors": "pt"}
    try:
        return int(processor(text=[text], **arguments)["input_ids"].shape[-1])
    except PROCESSOR_ERRORS:
        return None
