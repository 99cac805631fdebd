"""Parts of a tiny checkpoint of any family: tokenizer, language half, weights, processor files.

A builder writes a checkpoint of a few thousand random weights, with the files that the real
release has: names, special tokens, chat template, processor settings, generation configuration.
Processors are written as files, never as objects: many can only be made where torchvision is.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

WIDTH = 32
SIDE, PATCH = 56, 14  # px; 4 x 4 patches
CONTEXT = 8192  # tokens
_TEMPLATES = Path(__file__).parent / "templates"
_CORPUS = [
    "How many birds are there in the image? Answer yes or no, left or right, red or blue.",
    "user assistant system You are a helpful assistant. The image shows a dog and a cat.",
]


def train_tokenizer(
    special: Sequence[str],
    *,
    eos: str,
    pad: str,
    bos: str | None = None,
    writes_bos: bool = False,
    writes_eos: bool = False,
    names: Mapping[str, str] | None = None,
) -> Any:
    """Train byte-level BPE on two sentences; control tokens have the lowest ids, in their order.

    Args:
        special: Control tokens.
        eos: The token that ends a response.
        pad: The token that fills up shorter rows of a batch.
        bos: The token that begins a text.
        writes_bos: Whether the tokenizer's post-processor writes ``bos`` in front.
        writes_eos: Whether it writes ``eos`` behind.
        names: Control tokens that the processor asks for by attribute, such as "image_token".
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=len(special) + len(alphabet) + 64,
        special_tokens=list(special),
        initial_alphabet=alphabet,
        show_progress=False,
    )
    tokenizer.train_from_iterator(_CORPUS, trainer)
    if writes_bos or writes_eos:
        front = f"{bos} " if writes_bos else ""
        back = f" {eos}" if writes_eos else ""
        token_ids = {token: special.index(token) for token in (bos, eos) if token}
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{front}$A{back}",
            pair=f"{front}$A{back} {front}$B{back}",
            special_tokens=list(token_ids.items()),
        )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=pad,
        bos_token=bos,
        eos_token=eos,
        extra_special_tokens=dict(names or {}),
    )


def token_ids(tokenizer: Any, **tokens: str) -> dict[str, int]:
    """Look up control tokens: ``token_ids(tokenizer, image_token_id="<image>")``."""
    return {name: tokenizer.convert_tokens_to_ids(token) for name, token in tokens.items()}


def language(tokenizer: Any, **overrides: Any) -> dict[str, Any]:
    """Settings of a language half of two layers and two heads; ``overrides`` replace some."""
    settings = {
        "vocab_size": len(tokenizer),
        "hidden_size": WIDTH,
        "intermediate_size": 2 * WIDTH,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "max_position_embeddings": CONTEXT,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    return settings | overrides


def tower(**overrides: Any) -> dict[str, Any]:
    """Settings of a vision half of two layers over 4 x 4 patches; ``overrides`` replace some."""
    settings = {
        "hidden_size": WIDTH,
        "intermediate_size": 2 * WIDTH,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "image_size": SIDE,
        "patch_size": PATCH,
    }
    return settings | overrides


def save_model(
    folder: Path,
    model_class: Any,
    config: Any,
    tokenizer: Any,
    generation: Mapping[str, Any] | None = None,
    *,
    also_ends: Sequence[str] = (),
    seed: int = 0,
) -> None:
    """Draw weights large enough that responses depend on images and texts, and write them.

    Args:
        folder: The checkpoint; created if missing.
        model_class: The model's class.
        config: Its configuration.
        tokenizer: The tokenizer, whose bos, eos and pad the generation configuration names.
        generation: What else the release's generation_config.json holds.
        also_ends: Tokens that end a response beside eos.
        seed: Of the weights; some give a model with the same response to every image.
    """
    import torch

    torch.set_num_threads(1)  # several would mostly wait for each other
    torch.manual_seed(seed)
    model = model_class(config).float()
    tied = bool(getattr(config.get_text_config(), "tie_word_embeddings", False))
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if weights.dim() >= 2:
                # Large embeddings that are also the output layer would echo the last token.
                echoes = tied and ("embed_tokens" in name or name.endswith("shared.weight"))
                weights.normal_(0, 0.02 if echoes else 0.25)
            elif "gate" in name or "alpha_" in name:  # weight of the image; zero in a new model
                weights.fill_(1.0)
    model.save_pretrained(folder)
    eos_ids = tokenizer.eos_token_id
    if also_ends:
        eos_ids = [eos_ids, *(tokenizer.convert_tokens_to_ids(token) for token in also_ends)]
    settings = {
        "bos_token_id": tokenizer.bos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
        "eos_token_id": eos_ids,
    }
    write_json(folder / "generation_config.json", settings | dict(generation or {}))


def save_processor(
    folder: Path,
    processor_class: str,
    tokenizer: Any,
    image: Mapping[str, Any],
    template: str | None = None,
    **files: Mapping[str, Any],
) -> None:
    """Write a processor's files as releases have them, without creating the processor.

    Args:
        folder: The checkpoint.
        processor_class: Name of the processor's class.
        tokenizer: The tokenizer.
        image: preprocessor_config.json.
        template: Name of the chat template; None where the release has none.
        files: Other files by their names without ``.json``, such as ``processor_config``.
    """
    tokenizer.save_pretrained(folder)
    settings = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    class_entry = {"processor_class": processor_class}
    write_json(folder / "tokenizer_config.json", settings | class_entry)
    write_json(folder / "preprocessor_config.json", {**image, **class_entry})
    write_json(
        folder / "processor_config.json", {**files.pop("processor_config", {}), **class_entry}
    )
    for name, content in files.items():
        write_json(folder / f"{name}.json", content)
    if template:
        text = (_TEMPLATES / f"{template}.jinja").read_text(encoding="utf-8")
        (folder / "chat_template.jinja").write_text(text.rstrip("\n"), encoding="utf-8")


def write_json(file: Path, content: Mapping[str, Any]) -> None:
    file.write_text(json.dumps(content, indent=2, ensure_ascii=False), encoding="utf-8")
