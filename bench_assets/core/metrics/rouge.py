"""ROUGE-L as COCO's caption evaluation defines it: the longest common subsequence."""

import numpy as np

from bench_assets.core.metrics.corpus import Captioned, Corpus, Floats, Tokenize
from bench_assets.core.metrics.ptb import tokenize
from bench_assets.core.metrics.subsequence import longest_common

_BETA = 1.2  # how much more ROUGE-L minds recall than precision


def rouge_l(corpus: Corpus) -> Floats:
    """The best precision over a caption's references with the best recall over them."""
    owner = corpus.owner[corpus.n :]
    references = np.arange(corpus.n, len(corpus.owner))
    # pycocoevalcap splits an empty text into one empty token.
    size = np.maximum(1, corpus.lengths)
    texts = [text.tolist() for text in np.split(corpus.tokens, corpus.starts[1:-1])]
    pairs = zip(owner.tolist(), references.tolist(), strict=True)
    common = np.array([longest_common(texts[a], texts[b]) for a, b in pairs], float)
    common += (corpus.lengths[owner] == 0) & (corpus.lengths[references] == 0)
    precision, recall = np.zeros(corpus.n), np.zeros(corpus.n)
    np.maximum.at(precision, owner, common / size[owner])
    np.maximum.at(recall, owner, common / size[references])
    below = recall + _BETA**2 * precision
    score = (1 + _BETA**2) * precision * recall
    return np.divide(score, below, out=np.zeros(corpus.n), where=below > 0)


def rouge_l_of(caption: Captioned, tokens: Tokenize = tokenize) -> float:
    """ROUGE-L of one caption, as ``score_captions`` has it: no other caption bears on it.

    >>> rouge_l_of(Captioned("a red cat", ("a red cat", "the cat is red")))
    1.0
    """
    own = tokens(caption.candidate)
    precision = recall = 0.0
    for reference in caption.references:
        theirs = tokens(reference)
        common = longest_common(own, theirs)
        common += not own and not theirs
        precision = max(precision, common / max(1, len(own)))
        recall = max(recall, common / max(1, len(theirs)))
    below = recall + _BETA**2 * precision
    return (1 + _BETA**2) * precision * recall / below if below else 0.0
