"""``bench.load``: the questions of a suite, as rows or as a data frame."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, overload

from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.schema.rows import Question
from bench_assets.python_api.benchmark import Benchmark, add_suites
from bench_assets.python_api.calls import interface
from bench_assets.python_api.samples import SampleImage
from bench_assets.workspace.materialization.backfill import build_questions
from bench_assets.workspace.materialization.opening import check_names, open_workbench
from bench_resources.images.store import ImageStore, open_image_store

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, repr=False)
class SuiteQuestions(Sequence[Question]):
    """The questions of one or several tasks, in the order of their tables."""

    rows: tuple[Question, ...]
    _store: ImageStore = field(compare=False)

    @overload
    def __getitem__(self, index: int) -> Question: ...
    @overload
    def __getitem__(self, index: slice) -> "SuiteQuestions": ...
    def __getitem__(self, index: int | slice) -> "Question | SuiteQuestions":
        """Return a question; for a slice, a ``SuiteQuestions``."""
        if isinstance(index, slice):
            return SuiteQuestions(self.rows[index], self._store)
        return self.rows[index]

    def __len__(self) -> int:
        """Number of questions."""
        return len(self.rows)

    def images(self, question: Question) -> tuple[SampleImage, ...]:
        """Images of a question; ``open()`` each to decode it."""
        return tuple(SampleImage(image, self._store) for image in question.images)

    def frame(self) -> "pd.DataFrame":
        """A data frame with a row for each question; ``images`` holds ``SampleImage``s."""
        import pandas as pd

        rows = [{**asdict(row), "images": self.images(row)} for row in self.rows]
        return pd.DataFrame(rows, columns=list(Question.__dataclass_fields__))

    def __repr__(self) -> str:
        """The tasks, and the number of questions."""
        tasks = ", ".join(dict.fromkeys(row.task for row in self.rows))
        noun = "question" if len(self.rows) == 1 else "questions"
        return f"{tasks or 'no task'}: {len(self.rows)} {noun}; .frame() is a DataFrame"

    def _repr_html_(self) -> str:
        """The data frame as HTML, at most 10 rows."""
        return str(self.frame().to_html(max_rows=10))


@interface
def load(
    suite: str | Benchmark, *, condition: str = "main", source: str | Path = ""
) -> SuiteQuestions:
    """Load the questions of a suite or task, which are built first if missing.

    >>> questions = load("codis")
    >>> questions[0].kind, len(questions)
    ('text', 80)
    >>> questions.frame().task.unique()
    array(['codis'], dtype=object)

    Args:
        suite: Suite or task, a file with one section ``[benchmarks.NAME]``, or a ``Benchmark``.
        condition: ``"main"`` or an ablation.
        source: Folder with the suite's files or an address, instead of bench.toml's.

    Raises:
        BenchError: If a name is unknown or not of one suite, or the source cannot be used.
    """
    suites = add_suites("suite", suite)
    if len(suites) != 1:
        raise SettingsError(f"suite: expected one, got {', '.join(suites) or 'none'}")
    name = suites[0]
    with open_workbench(name, source) as bench:
        check_names(bench, [name], (), [condition])
        names, failures = build_questions(bench, name)
        if failures:
            raise failures[0]
        tasks = bench.tasks_with_questions(names)
        rows = [row for task in tasks for row in bench.questions(task, condition)]
        return SuiteQuestions(tuple(rows), open_image_store(bench.settings))
