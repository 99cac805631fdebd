"""The model: a LLaVA of 1.9 million parameters, its tokenizer, and how both are written down.

A CLIP tower cuts an image into 8 x 8 patches; each becomes one token of a small Llama. Nothing is
downloaded: weights are random, and the tokenizer is made of the texts it will read.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

SIDE = 240  # px of an image as the model sees it, whatever its proportions
CELLS = 8  # patches in a row and in a column
WIDTH = 128
EMBEDDING_SPREAD = 0.08  # standard deviation of word embeddings before training

# A hundred times Llama's: what a question names is looked for in all of an image, and only slowly
# turning dimensions of a head can match a word that is 150 tokens away.
_ROPE_THETA = 1e6

_PAD, _START, _END, _IMAGE = "<|pad|>", "<|im_start|>", "<|im_end|>", "<image>"
_VOCABULARY = 1536
_CHAT = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n"
    "{% if m['content'] is string %}{{ m['content'] }}{% else %}"
    "{% for part in m['content'] %}"
    "{% if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def new_tokenizer(texts: Iterable[str]) -> Any:  # noqa: ANN401
    """Make a byte-level BPE tokenizer that has the texts' words whole and can spell all others."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    words = Tokenizer(models.BPE())
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=_VOCABULARY,
        special_tokens=[_PAD, _START, _END, _IMAGE],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    words.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=words,
        pad_token=_PAD,
        bos_token=_START,
        eos_token=_END,
        padding_side="left",
        extra_special_tokens={"image_token": _IMAGE},
        chat_template=_CHAT,
    )


def new_model(tokenizer: Any) -> Any:  # noqa: ANN401
    """Make a LLaVA with random weights."""
    from transformers import LlavaConfig
    from transformers import LlavaForConditionalGeneration as Llava

    config = LlavaConfig(
        vision_config=_eyes(),
        text_config=_mouth(tokenizer),
        image_token_index=tokenizer.convert_tokens_to_ids(_IMAGE),
        image_seq_length=CELLS**2,
        vision_feature_select_strategy="default",
        vision_feature_layer=-1,
        tie_word_embeddings=True,
        initializer_range=EMBEDDING_SPREAD,
    )
    model = Llava(config)
    # Beside what a patch shows, its place would be too quiet to be learned from the start.
    model.model.vision_tower.embeddings.position_embedding.weight.data.normal_()
    # What eyes say has the size of words, which are small.
    model.model.multi_modal_projector.linear_2.weight.data.mul_(EMBEDDING_SPREAD)
    return model


def _eyes() -> Any:  # noqa: ANN401
    from transformers import CLIPVisionConfig

    return CLIPVisionConfig(
        hidden_size=WIDTH,
        intermediate_size=4 * WIDTH,
        num_hidden_layers=3,
        num_attention_heads=4,
        image_size=SIDE,
        patch_size=SIDE // CELLS,
        projection_dim=WIDTH,
        initializer_factor=2.0,
    )


def _mouth(tokenizer: Any) -> Any:  # noqa: ANN401
    from transformers import LlamaConfig

    return LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=WIDTH,
        intermediate_size=3 * WIDTH,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=4096,
        rope_parameters={"rope_type": "default", "rope_theta": _ROPE_THETA},
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        tie_word_embeddings=True,
        initializer_range=EMBEDDING_SPREAD,
    )


def new_processor(tokenizer: Any) -> Any:  # noqa: ANN401
    """Make the processor: whole images, squeezed into a square, as numbers from -1 to 1."""
    from transformers import CLIPImageProcessorPil, LlavaProcessor

    images = CLIPImageProcessorPil(
        size={"height": SIDE, "width": SIDE},
        do_center_crop=False,
        image_mean=[0.5] * 3,
        image_std=[0.5] * 3,
    )
    return LlavaProcessor(
        image_processor=images,
        tokenizer=tokenizer,
        patch_size=SIDE // CELLS,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=_CHAT,
    )


def save(model: Any, processor: Any, folder: Path) -> None:  # noqa: ANN401
    """Write a checkpoint in half precision; the model in memory keeps its own."""
    import copy

    copy.deepcopy(model).half().save_pretrained(folder)
    processor.save_pretrained(folder)
