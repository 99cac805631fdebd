"""The model: a LLaVA of 1.9 million parameters, its tokenizer, and how both are written down.

A CLIP tower cuts an image into 8 x 8 patches; each becomes one token of a small Llama. Nothing is
downloaded: weights are random, and the tokenizer is made of the texts it will read.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
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
_LONG, _OFTEN = 150, 100  # characters of an instruction, and how often it comes
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
    read = list(texts)
    words.train_from_iterator(read, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words,
        pad_token=_PAD,
        bos_token=_START,
        eos_token=_END,
        padding_side="left",
        extra_special_tokens={"image_token": _IMAGE},
        chat_template=_CHAT,
    )
    tokenizer.add_tokens(list(instructions(read)))
    return tokenizer


def instructions(texts: Iterable[str]) -> Iterator[str]:
    """Lines that come again and again in prompts: each becomes one token, for the sake of speed."""
    lines = Counter(line for text in texts for line in text.split("\n") if len(line) >= _LONG)
    yield from (line for line, n in lines.items() if n >= _OFTEN)


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


def grown(folder: Path, texts: Iterable[str]) -> tuple[Any, Any]:
    """Load a checkpoint, and give it a token for each word and each instruction of the texts.

    A new token begins as the mean of those that it replaces, so that what was learned stays.

    Returns:
        The model and its tokenizer.
    """
    import torch
    from transformers import AutoTokenizer
    from transformers import LlavaForConditionalGeneration as Llava

    read = list(texts)
    model = Llava.from_pretrained(folder, dtype=torch.float32)
    old = AutoTokenizer.from_pretrained(folder)
    new = with_words(AutoTokenizer.from_pretrained(folder), read)
    new.add_tokens(list(instructions(read)))
    before = model.get_input_embeddings().weight.data.clone()
    model.resize_token_embeddings(len(new), mean_resizing=False)
    after = model.get_input_embeddings().weight.data
    for token in range(len(old), len(new)):
        after[token] = before[old.encode(new.decode([token]), add_special_tokens=False)].mean(0)
    return model, new


def with_words(tokenizer: Any, texts: Sequence[str]) -> Any:  # noqa: ANN401
    """Add merges to a BPE tokenizer, until each word of the texts is one token.

    They come after those that it has, so that words it knew are written as before.
    """
    from tokenizers import Tokenizer

    split = tokenizer.backend_tokenizer.pre_tokenizer.pre_tokenize_str
    words = Counter(word for text in dict.fromkeys(texts) for word, _ in split(text))
    content = json.loads(tokenizer.backend_tokenizer.to_str())
    vocabulary = content["model"]["vocab"]
    merges = [tuple(pair) for pair in content["model"]["merges"]]
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    for word, _ in words.most_common():
        while len(pieces := _pieces(word, ranks)) > 1:
            pair = pieces[0], pieces[1]
            ranks[pair] = len(merges)
            merges.append(pair)
            vocabulary.setdefault(pair[0] + pair[1], len(vocabulary))
    content["model"]["merges"] = [list(pair) for pair in merges]
    tokenizer._tokenizer = Tokenizer.from_str(json.dumps(content))
    return tokenizer


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


def _pieces(word: str, ranks: dict[tuple[str, str], int]) -> list[str]:
    """Write a word as BPE does: the earliest merge first."""
    pieces = list(word)
    while True:
        pairs = list(pairwise(pieces))
        best = min(pairs, key=lambda pair: ranks.get(pair, len(ranks)), default=None)
        if best is None or best not in ranks:
            return pieces
        at = pairs.index(best)
        pieces[at : at + 2] = ["".join(best)]
