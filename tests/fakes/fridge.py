"""A benchmark package of one module, as others may install beside this project."""

from pathlib import Path

from tests.fakes.distributions import write_distribution

GROUP = "bench_assets.suites"

_MODULE = '''
"""Is the fridge cold? The only answer is the right one; its measure is no share."""

import dagster as dg

from bench_assets.core.schema.chat import Prompt
from bench_assets.core.schema.rows import Question, Score
from bench_assets.core.stats.means import Mean
from bench_assets.asset_factory.suite_assets import AssetFolder
from bench_assets.evaluation.suite import Suite
from bench_assets.evaluation.task import Condition, Task

FRIDGE = AssetFolder("fridge")


@dg.asset(**FRIDGE.stage("questions"))
def questions() -> list[Question]:
    """One row: one question about a fridge."""
    return [
        Question(
            question_id=f"fridge/{number}",
            task="fridge",
            edition="own",
            kind="choice",
            text=f"Is fridge {number} cold?",
            options=("yes",),
            answer=("A",),
        )
        for number in range(4)
    ]


def degrees(scored):
    n = len(scored)
    return Mean(sum(280 * score.points for _, score in scored) / n, -300, 300, n, 0)


TASK = Task(
    name="fridge",
    title="Fridge",
    version=1,
    conditions={"main": Condition(prompt=lambda q: Prompt.of(q.text), about="As it is.")},
    scorers={
        "letter": lambda answered, _: Score.of(
            answered.prediction,
            points=float((answered.prediction.text,) == answered.question.answer),
        )
    },
    measures={"degrees": degrees},
)
SUITE = Suite(name="fridge", tasks=(TASK,), assets=lambda: [questions])
'''


def install_fridge(site: Path, module: str = "fridge_bench", further_lines: str = "") -> Path:
    """Install the benchmark in a folder on ``sys.path``, and return the file of its module.

    Args:
        site: The folder.
        module: Name of the module; tests use different ones, as Python imports each once.
        further_lines: Added at the end of the module.
    """
    entries = {GROUP: {"fridge": f"{module}:SUITE"}}
    write_distribution(site, "fridge-bench", entries, **{module: _MODULE + further_lines})
    return site / f"{module}.py"
