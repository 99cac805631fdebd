"""Encoders of texts and images: a tiny CLIP made here, and chance."""

import io
import json
import shutil

import numpy as np
import pytest
from PIL import Image

from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.identity import pin
from bench_resources.encoders.dual_encoder import EncoderSpec, RandomEncoder, open_encoder
from bench_resources.images.store import ImageStore

TEXTS = ["a red cat", "two blue owls on the moon", "moon"]


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    """A CLIP with random weights, saved as a checkpoint."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
    from transformers import (
        CLIPConfig,
        CLIPImageProcessorPil,
        CLIPModel,
        CLIPProcessor,
        PreTrainedTokenizerFast,
    )

    folder = tmp_path_factory.mktemp("clip")
    words = Tokenizer(models.BPE(unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    special = ["<unk>", "<s>", "</s>"]
    words.train_from_iterator(TEXTS, trainers.BpeTrainer(special_tokens=special))
    words.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, bos_token="<s>", eos_token="</s>", pad_token="</s>"
    )
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
    sizes |= {"num_attention_heads": 2}
    text = sizes | {"vocab_size": words.get_vocab_size(), "max_position_embeddings": 16}
    text |= {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 2}
    vision = sizes | {"image_size": 32, "patch_size": 8}
    torch.manual_seed(0)
    config = CLIPConfig(text_config=text, vision_config=vision, projection_dim=16)
    CLIPModel(config).save_pretrained(folder)
    images = CLIPImageProcessorPil(
        size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
    )
    CLIPProcessor(image_processor=images, tokenizer=tokenizer).save_pretrained(folder)
    return folder


@pytest.fixture
def images(tmp_path):
    return ImageStore(folder=str(tmp_path / "images"))


def put(images, colour):
    data = io.BytesIO()
    Image.new("RGB", (40, 30), colour).save(data, "PNG")
    return images.put(data.getvalue(), colour).sha256


def opened(folder, images, **options):
    spec = EncoderSpec(path=str(folder), device="cpu", **options)
    return open_encoder("tiny", spec, str(folder), images)


def test_a_checkpoint_embeds_texts_and_images_into_one_space(clip, images):
    shown = [put(images, "red"), put(images, "blue")]
    with opened(clip, images) as encoder:
        texts, seen = encoder.encode_texts(TEXTS), encoder.encode_images(shown)
        assert encoder.name.startswith("tiny@sha256:")
    assert texts.shape == (3, 16)
    assert seen.shape == (2, 16)
    assert np.linalg.norm(np.vstack([texts, seen]), axis=1) == pytest.approx(1)


def test_a_model_of_layers_in_folders_is_known_by_the_weights_of_each(clip, images, tmp_path):
    """As sentence-transformers saved CLIP until its release 5: nothing but a list at the top."""
    of_library = "sentence_transformers.sentence_transformer.modules"
    layers = {"0_CLIPModel": f"{of_library}.clip_model.CLIPModel"}
    listed = [{"idx": 0, "name": "0", "path": path, "type": kind} for path, kind in layers.items()]
    (tmp_path / "modules.json").write_text(json.dumps(listed))
    inside = shutil.copytree(clip, tmp_path / "0_CLIPModel")
    with opened(tmp_path, images, kind="sentence_transformers") as encoder:
        assert encoder.encode_texts(TEXTS).shape == (3, 16)
        before = encoder.name
    (inside / "vocab.txt").write_text("other words")
    assert f"tiny@{pin(str(tmp_path)).content}" != before
    (inside / "model.safetensors").unlink()
    with pytest.raises(ModelError, match=r"config\.json is missing"):
        pin(str(tmp_path))


def test_vectors_of_one_library_are_not_taken_for_those_of_another(clip, images):
    with opened(clip, images) as one, opened(clip, images, kind="sentence_transformers") as other:
        assert one.name != other.name


def test_vectors_do_not_depend_on_the_batch(clip, images):
    with opened(clip, images) as together, opened(clip, images, batch_size=1) as alone:
        assert together.encode_texts(TEXTS) == pytest.approx(alone.encode_texts(TEXTS), abs=1e-6)


def test_what_does_not_load_is_one_error(tmp_path, images):
    (tmp_path / "config.json").write_text('{"model_type": "unheard of"}')
    (tmp_path / "model.safetensors").write_bytes(b"\x02\0\0\0\0\0\0\0{}")
    for folder, complaint in (
        (tmp_path / "nowhere", "nowhere"),
        (tmp_path, "does not load as an encoder"),
    ):
        with pytest.raises(ModelError, match=complaint), opened(folder, images):
            pass


def test_chance_is_the_same_every_time_and_different_for_everything():
    vectors = RandomEncoder("random").encode_texts(["a", "b", "a"])
    assert (vectors[0] == vectors[2]).all()
    assert abs(vectors[0] @ vectors[1]) < 0.9
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)
