"""BLEU, ROUGE-L and CIDEr, against calculations by hand, the authors' values and two packages."""

import json
from math import exp, sqrt
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


def score_corpus(*captions):
    """Score captions, each a list of the candidate and its references, split at blanks."""
    pairs = [CaptionPair(candidate, tuple(references)) for candidate, *references in captions]
    return score_captions(pairs, str.split)


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
def test_bleu_is_that_by_hand(candidate, references, bleu_1, bleu_2):
    ((first, second, _, _),) = score_corpus([candidate, *references]).bleu
    assert (first, second) == pytest.approx((bleu_1, bleu_2), abs=1e-6)


def test_corpus_bleu_adds_counts_before_it_divides():
    # 1 of 1 word and 1 of 3 words are 2 of 4, where the mean of the two would be 2/3.
    bleu_1, *_ = corpus_bleu(score_corpus(["a", "a"], ["b x y", "b c d"]))
    assert bleu_1 == pytest.approx(0.5)


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
def test_rouge_l_is_that_by_hand(candidate, references, rouge_l):
    assert score_corpus([candidate, *references]).rouge_l[0] == pytest.approx(rouge_l)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from("abcde"), min_size=1), st.lists(st.sampled_from("abcde"), min_size=1)
)
def test_rouge_l_weighs_the_precision_and_recall_of_rouge_score(candidate, reference):
    candidate_text, reference_text = " ".join(candidate), " ".join(reference)
    splitter = SimpleNamespace(tokenize=str.split)
    scorer = rouge_scorer.RougeScorer(["rougeL"], tokenizer=splitter)
    score = scorer.score(reference_text, candidate_text)["rougeL"]
    # F with beta 1.2; the denominator is 0 where no word is in common.
    denominator = score.recall + 1.44 * score.precision or 1
    expected = 2.44 * score.precision * score.recall / denominator
    (rouge_l,) = score_corpus([candidate_text, reference_text]).rouge_l
    assert rouge_l == pytest.approx(expected)


def test_cider_of_a_reference_is_10_or_0_if_all_images_share_it():
    ciders = score_corpus(["a b c d", "a b c d"], ["e f g h", "e f g h"]).cider
    assert ciders == pytest.approx([10, 10])
    assert score_corpus(["a b c d", "a b c d"], ["a b c d", "a b c d"]).cider == pytest.approx(
        [0, 0]
    )


def test_cider_weighs_words_by_rarity_and_penalizes_another_length():
    # "b" is in both captions' references and weighs nothing, each other word ln 2. The cosines for
    # n = 1 are those of (1, 1) and (1, 0), and of two equal vectors; no longer n-gram is in common.
    ciders = score_corpus(["a x", "a b"], ["c", "c b"]).cider
    assert ciders[0] == pytest.approx(10 / sqrt(2) / 4)
    assert ciders[1] == pytest.approx(10 * exp(-1 / 72) / 4)  # one bigram less, sigma 6


@pytest.mark.parametrize("name", ["synth_100", "synth_1000"])
def test_shared_captions_have_their_published_scores(shared_data, name):
    items = json.loads((shared_data / "captions" / f"{name}.json").read_text())["items"]
    expected = json.loads((shared_data / "captions" / f"{name}.scores.json").read_text())
    measures = score_captions([CaptionPair(i["candidate"], tuple(i["references"])) for i in items])
    by_item, of_corpus = expected["per_item"], expected["scores"]
    for n in range(4):
        assert measures.bleu[:, n] == pytest.approx(by_item[f"Bleu_{n + 1}"], abs=1e-6)
        assert corpus_bleu(measures)[n] == pytest.approx(of_corpus[f"Bleu_{n + 1}"], abs=1e-6)
    for values, metric in ((measures.rouge_l, "ROUGE_L"), (measures.cider, "CIDEr")):
        assert values == pytest.approx(by_item[metric], abs=1e-6)
        assert values.mean() == pytest.approx(of_corpus[metric], abs=1e-6)


CAPTION = st.lists(st.sampled_from(["a", "b", "c", "d", "e"]), max_size=9).map(" ".join)
CORPUS = st.lists(st.tuples(CAPTION, st.lists(CAPTION, min_size=1, max_size=4)), min_size=1)


@settings(max_examples=40, deadline=None)
@given(CORPUS)
def test_every_corpus_has_the_scores_of_pycocoevalcap(corpus):
    # pycocoevalcap divides by zero where every reference is empty.
    assume(any(text for _, references in corpus for text in references))
    bleu, rouge, cider = score_with_pycocoevalcap(corpus)
    pairs = [CaptionPair(candidate, tuple(references)) for candidate, references in corpus]
    measures = score_captions(pairs, str.split)
    assert np.allclose(measures.bleu, bleu, atol=1e-6)
    assert np.allclose(measures.rouge_l, rouge, atol=1e-6)
    assert np.allclose(measures.cider, cider, atol=1e-6)
    assert np.allclose([caption_rouge_l(pair, str.split) for pair in pairs], rouge, atol=1e-14)


@pytest.mark.parametrize(
    "references",
    [pytest.param('1. "a" 2. "b"', id="one text"), pytest.param((), id="no reference")],
)
def test_references_must_be_several_texts(references):
    with pytest.raises(ValueError, match="caption 0: expected a tuple of texts"):
        score_captions([CaptionPair("a", references)])


def score_with_pycocoevalcap(corpus):
    """BLEU, ROUGE-L and CIDEr of each caption."""
    module = pytest.importorskip("pycocoevalcap.bleu.bleu")
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.rouge.rouge import Rouge

    candidates, references = {}, {}
    for n, (candidate, candidate_references) in enumerate(corpus):
        candidates[n], references[n] = [candidate], list(candidate_references)
    _, bleu = module.Bleu(4).compute_score(references, candidates, verbose=0)
    _, rouge = Rouge().compute_score(references, candidates)
    _, cider = Cider().compute_score(references, candidates)
    return np.array(bleu).T, rouge, cider
