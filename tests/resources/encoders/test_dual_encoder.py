import json
import shutil

import numpy as np
import pytest
from PIL import Image

from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.identity import pin
from bench_resources.encoders.dual_encoder import EncoderSpec, RandomEncoder, open_encoder
from bench_resources.images.store import ImageStore
from tests.fakes.written_images import saved
from tests.families import releases

TEXTS = ["a red cat", "two blue owls on the moon", "moon"]


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    """A CLIP with random weights, whose vectors have 24 dimensions."""
    folder = tmp_path_factory.mktemp("clip")
    releases.build("clip", folder)
    return folder


@pytest.fixture
def images(tmp_path):
    return ImageStore(folder=str(tmp_path / "images"))


def store_image(images, colour):
    return images.put(saved(Image.new("RGB", (40, 30), colour)), colour).sha256


def open_tiny_encoder(folder, images, **options):
    spec = EncoderSpec(path=str(folder), device="cpu", **options)
    return open_encoder("tiny", spec, str(folder), images)


def test_a_checkpoint_embeds_texts_and_images_into_one_space(clip, images):
    sha256s = [store_image(images, "red"), store_image(images, "blue")]
    with open_tiny_encoder(clip, images) as encoder:
        text_vectors, image_vectors = encoder.encode_texts(TEXTS), encoder.encode_images(sha256s)
        assert encoder.name.startswith("tiny@sha256:")
    assert text_vectors.shape == (3, 24)
    assert image_vectors.shape == (2, 24)
    vectors = np.vstack([text_vectors, image_vectors])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)


def test_an_encoder_with_layers_in_folders_has_the_identity_of_their_files(clip, images, tmp_path):
    """sentence-transformers saved CLIP so until its release 5: a list of layers at the top."""
    layer = {
        "idx": 0,
        "name": "0",
        "path": "0_CLIPModel",
        "type": "sentence_transformers.sentence_transformer.modules.clip_model.CLIPModel",
    }
    (tmp_path / "modules.json").write_text(json.dumps([layer]))
    layer_folder = shutil.copytree(clip, tmp_path / "0_CLIPModel")
    before = pin(str(tmp_path)).content
    with open_tiny_encoder(tmp_path, images, kind="sentence_transformers") as encoder:
        assert encoder.name.startswith(f"tiny@{before}")
    (layer_folder / "vocab.txt").write_text("other words")
    assert pin(str(tmp_path)).content != before


def test_encoders_of_two_libraries_have_different_names(clip, images):
    with (
        open_tiny_encoder(clip, images) as of_transformers,
        open_tiny_encoder(clip, images, kind="sentence_transformers") as of_sentence_transformers,
    ):
        assert of_transformers.name != of_sentence_transformers.name


def test_vectors_do_not_depend_on_the_batch(clip, images):
    with open_tiny_encoder(clip, images) as encoder:
        batched = encoder.encode_texts(TEXTS)
    with open_tiny_encoder(clip, images, batch_size=1) as encoder:
        assert encoder.encode_texts(TEXTS) == pytest.approx(batched, abs=1e-6)


def test_a_folder_that_does_not_exist_is_named(tmp_path, images):
    with (
        pytest.raises(ModelError, match="nowhere"),
        open_tiny_encoder(tmp_path / "nowhere", images),
    ):
        pass


def test_a_checkpoint_that_does_not_load_is_one_error(tmp_path, images):
    (tmp_path / "config.json").write_text('{"model_type": "unheard of"}')
    (tmp_path / "model.safetensors").write_bytes(b"\x02\0\0\0\0\0\0\0{}")
    message = f"{tmp_path}: does not load: "
    with pytest.raises(ModelError, match=message), open_tiny_encoder(tmp_path, images):
        pass


def test_random_vectors_are_equal_for_equal_texts_only():
    first, other, repeated = RandomEncoder("random").encode_texts(["a", "b", "a"])
    assert (first == repeated).all()
    assert (first != other).any()


def test_random_vectors_have_norm_one():
    vectors = RandomEncoder("random").encode_texts(["a", "b"])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)
