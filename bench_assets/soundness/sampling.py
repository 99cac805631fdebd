"""Which replies are looked at where all would take minutes."""

from collections.abc import Sequence
from hashlib import sha256

from bench_assets.core.rows import Question

_REPLIES = 4000  # of all models together; reading one anew takes up to a millisecond
_LEAST = 50  # of one model


def sampled(questions: Sequence[Question], n_models: int) -> list[Question]:
    """As many questions as replies of all models can be read anew to; the same at every time."""
    most = max(_LEAST, _REPLIES // max(1, n_models))
    dealt = sorted(questions, key=lambda q: sha256(q.question_id.encode()).digest())[:most]
    return sorted(dealt, key=lambda q: q.question_id)
