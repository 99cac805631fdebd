"""BLEU, ROUGE-L and CIDEr beside pencil and paper, the authors' values, and two packages."""

import json
from math import exp, log
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from rouge_score import rouge_scorer

from bench_assets.core.metrics.captions import (
    CaptionPair,
    caption_rouge_l,
    corpus_bleu,
    score_captions,
)


def words(text):
    return text.split()


def scores(*captions):
    return score_captions([CaptionPair(c, tuple(r)) for c, *r in captions], words)


@pytest.mark.parametrize(
    ("candidate", "references", "bleu_1", "bleu_2"),
    [
        pytest.param("a b c", ["a b c"], 1.0, 1.0, id="the same words"),
        pytest.param("a b c", ["x y z"], 0.0, 0.0, id="no word in common"),
        pytest.param("a a a", ["a b c"], 1 / 3, 0.0, id="a word counts as often as it is there"),
        pytest.param("a b", ["a x", "y b"], 1.0, 0.0, id="each word from another reference"),
        pytest.param(
            "a b", ["a b c d"], exp(1 - 2), exp(1 - 2), id="half the length costs a factor of e"
        ),
        pytest.param(
            "a b c", ["a b", "a b c d"], 1.0, 1.0, id="of two closest lengths the shorter counts"
        ),
    ],
)
def test_bleu(candidate, references, bleu_1, bleu_2):
    bleu = scores([candidate, *references]).bleu[0]
    assert bleu[0] == pytest.approx(bleu_1, abs=1e-6)
    assert bleu[1] == pytest.approx(bleu_2, abs=1e-6)


def test_corpus_bleu_adds_counts_before_it_divides():
    # 1 of 1 word and 1 of 3 words are 2 of 4, where the mean of the two would be 2/3.
    assert corpus_bleu(scores(["a", "a"], ["b x y", "b c d"]))[0] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("candidate", "references", "rouge_l"),
    [
        pytest.param("a b c", ["a b c"], 1.0, id="the same words"),
        pytest.param("a b c", ["c b a"], 1 / 3, id="one word in the same order"),
        pytest.param("a x b", ["a b"], 2.44 * (2 / 3) / (1 + 1.44 * 2 / 3), id="one word too many"),
        pytest.param(
            "a b", ["a b x x", "a"], 1.0, id="precision of one reference, recall of another"
        ),
        pytest.param("", ["a"], 0.0, id="an empty caption"),
        pytest.param("", [""], 1.0, id="two empty texts are alike, as pycocoevalcap has it"),
    ],
)
def test_rouge_l(candidate, references, rouge_l):
    assert scores([candidate, *references]).rouge_l[0] == pytest.approx(rouge_l)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from("abcde"), min_size=1), st.lists(st.sampled_from("abcde"), min_size=1)
)
def test_rouge_l_weighs_the_precision_and_recall_of_rouge_score(candidate, reference):
    tokens = SimpleNamespace(tokenize=str.split)
    texts = " ".join(candidate), " ".join(reference)
    of_both = rouge_scorer.RougeScorer(["rougeL"], tokenizer=tokens).score(*reversed(texts))[
        "rougeL"
    ]
    precision, recall = of_both.precision, of_both.recall
    weighed = 2.44 * precision * recall / (recall + 1.44 * precision or 1)
    assert scores(texts).rouge_l[0] == pytest.approx(weighed)


def test_cider_of_a_caption_that_is_its_reference_is_10_unless_all_images_share_it():
    ciders = scores(["a b c d", "a b c d"], ["e f g h", "e f g h"]).cider
    assert ciders == pytest.approx([10, 10])
    assert scores(["a b c d", "a b c d"], ["a b c d", "a b c d"]).cider == pytest.approx([0, 0])


def test_cider_weighs_words_by_rarity_and_minds_the_length():
    # Only "a" is in common; "b" is in both captions' references and weighs nothing. With
    # tf-idf (ln 2, 0) against (ln 2, 0) the cosine for n = 1 is 1; longer n-grams have none.
    ciders = scores(["a x", "a b"], ["c", "c b"]).cider
    weights = np.array([log(2), log(2)])  # of the candidate: "a" and the unknown "x"
    cosine = log(2) ** 2 / (np.linalg.norm(weights) * log(2))
    assert ciders[0] == pytest.approx(10 * cosine / 4)
    assert ciders[1] == pytest.approx(10 * exp(-1 / 72) / 4)  # one bigram less, sigma 6


@pytest.mark.parametrize("name", ["synth_100", "synth_1000"])
def test_fixtures_come_out_corpus_and_item(shared_data, name):
    items = json.loads((shared_data / "captions" / f"{name}.json").read_text())["items"]
    expected = json.loads((shared_data / "captions" / f"{name}.scores.json").read_text())
    measures = score_captions([CaptionPair(i["candidate"], tuple(i["references"])) for i in items])
    each, whole = expected["per_item"], expected["scores"]
    for n in range(4):
        assert measures.bleu[:, n] == pytest.approx(each[f"Bleu_{n + 1}"], abs=1e-6)
        assert corpus_bleu(measures)[n] == pytest.approx(whole[f"Bleu_{n + 1}"], abs=1e-6)
    for values, metric in ((measures.rouge_l, "ROUGE_L"), (measures.cider, "CIDEr")):
        assert values == pytest.approx(each[metric], abs=1e-6)
        assert values.mean() == pytest.approx(whole[metric], abs=1e-6)


CAPTION = st.lists(st.sampled_from(["a", "b", "c", "d", "e"]), max_size=9).map(" ".join)
CORPUS = st.lists(st.tuples(CAPTION, st.lists(CAPTION, min_size=1, max_size=4)), min_size=1)


@settings(max_examples=40, deadline=None)
@given(CORPUS)
def test_every_corpus_scores_as_with_pycocoevalcap(corpus):
    assume(any(text for _, references in corpus for text in references))  # else it gives up
    bleu, rouge, cider = pycocoevalcap(corpus)
    found = scores(*([candidate, *references] for candidate, references in corpus))
    assert np.allclose(found.bleu, bleu, atol=1e-6)
    assert np.allclose(found.rouge_l, rouge, atol=1e-6)
    alone = [
        caption_rouge_l(CaptionPair(c, tuple(references)), str.split) for c, references in corpus
    ]
    assert np.allclose(alone, rouge, atol=1e-14)
    assert np.allclose(found.cider, cider, atol=1e-6)


@pytest.mark.parametrize(
    "references",
    [pytest.param('1. "a" 2. "b"', id="one text"), pytest.param((), id="no reference")],
)
def test_references_must_be_several_texts(references):
    with pytest.raises(ValueError, match="caption 0: expected a tuple of texts"):
        score_captions([CaptionPair("a", references)])


def pycocoevalcap(corpus):
    module = pytest.importorskip("pycocoevalcap.bleu.bleu")
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.rouge.rouge import Rouge

    truths = {i: list(references) for i, (_, references) in enumerate(corpus)}
    candidates = {i: [candidate] for i, (candidate, _) in enumerate(corpus)}
    _, bleu = module.Bleu(4).compute_score(truths, candidates, verbose=0)
    _, rouge = Rouge().compute_score(truths, candidates)
    _, cider = Cider().compute_score(truths, candidates)
    return np.array(bleu).T, rouge, cider
