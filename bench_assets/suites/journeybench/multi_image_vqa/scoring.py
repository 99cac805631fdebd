"""How multi-image VQA is sliced (Table 3)."""

from collections.abc import Sequence

from bench_assets.core.schema.rows import Question
from bench_assets.suites.journeybench.multi_image_vqa.dataset import CAUSE

MMCOT = "MMCOT"  # arithmetic and external knowledge together: the second "All" of Table 3


def by_category(question: Question) -> Sequence[str]:
    """Slice by category, and by those that need a chain of thought."""
    if not question.category:
        return ()
    return (question.category,) if question.category == CAUSE else (question.category, MMCOT)
