"""Vision-language and language models of a few thousand random weights, made from a config."""

from pathlib import Path
from typing import Any

_CORPUS = ["How many birds are there in the image? Answer yes or no, left or right, red or blue."]
_CHAT = (
    "{% for m in messages %}<|start|>{{ m['role'] }}\n"
    "{% if m['content'] is string %}{{ m['content'] }}{% else %}"
    "{% for part in m['content'] %}"
    "{% if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% endif %}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant\n{% endif %}"
)
_SIDE, _PATCH = 32, 16  # px
_WIDTH = 32


def save_tiny_vlm(folder: Path, seed: int = 0) -> Path:
    """Write a LLaVA: a CLIP tower that makes 4 tokens of an image, and a Llama of two layers."""
    from transformers import CLIPVisionConfig, LlavaConfig, LlavaForConditionalGeneration

    _seed(seed)
    tokenizer = _tokenizer()
    vision = CLIPVisionConfig(
        hidden_size=_WIDTH,
        intermediate_size=2 * _WIDTH,
        num_hidden_layers=2,
        num_attention_heads=2,
        image_size=_SIDE,
        patch_size=_PATCH,
        projection_dim=_WIDTH,
        initializer_factor=3.0,
    )
    config = LlavaConfig(
        vision_config=vision,
        text_config=_llama(tokenizer),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        image_seq_length=(_SIDE // _PATCH) ** 2,
        vision_feature_select_strategy="default",
        vision_feature_layer=-1,
        initializer_range=0.3,
    )
    LlavaForConditionalGeneration(config).save_pretrained(folder)
    _processor(tokenizer).save_pretrained(folder)
    return folder


def save_tiny_language_model(folder: Path, seed: int = 0) -> Path:
    """Write a Llama of two layers, without eyes."""
    from transformers import LlamaForCausalLM

    _seed(seed)
    tokenizer = _tokenizer()
    LlamaForCausalLM(_llama(tokenizer)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _seed(seed: int) -> None:
    import torch

    torch.manual_seed(seed)
    # With so little to compute, threads on a busy machine mostly wait for one another.
    torch.set_num_threads(1)


def _llama(tokenizer: Any) -> Any:
    from transformers import LlamaConfig

    return LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=_WIDTH,
        intermediate_size=2 * _WIDTH,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=1024,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        initializer_range=0.3,  # the usual 0.02 makes every response the same
    )


def _tokenizer() -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    bytes_of_words = Tokenizer(models.BPE())
    bytes_of_words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytes_of_words.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=["<|pad|>", "<|start|>", "<|end|>", "<image>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bytes_of_words.train_from_iterator(_CORPUS, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=bytes_of_words,
        pad_token="<|pad|>",
        bos_token="<|start|>",
        eos_token="<|end|>",
        padding_side="left",
        extra_special_tokens={"image_token": "<image>"},
        chat_template=_CHAT,
    )


def _processor(tokenizer: Any) -> Any:
    from transformers import CLIPImageProcessorPil, LlavaProcessor

    images = CLIPImageProcessorPil(
        size={"shortest_edge": _SIDE}, crop_size={"height": _SIDE, "width": _SIDE}
    )
    return LlavaProcessor(
        image_processor=images,
        tokenizer=tokenizer,
        patch_size=_PATCH,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=_CHAT,
    )
