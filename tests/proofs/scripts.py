"""The rules of short answers beside the scripts they restate, on the same responses.

The responses are what MathVista's models answered (``results/*/output_*.json``): the scripts are
public, responses to their own benchmarks are not. VQA's ten people are the first ten models.
"""

import ast
import importlib.util
import json
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, NamedTuple

from bench_assets.core.metrics import official_rules
from bench_assets.core.schema.rows import Question
from tests.fakes.rows import question

_PEOPLE = 10


class Answer(NamedTuple):
    """A response with the references that it is compared with."""

    response: str
    references: tuple[str, ...]


class Script(NamedTuple):
    """A published script that scores answers, and our rule that restates it."""

    title: str
    repository: str
    commit: str
    points: Callable[[Path, Sequence[Answer]], list[float]]
    rule: Callable[[str, Question], float]
    n_references: int


def _import_file(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise ImportError(str(file))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _chartqa_points(folder: Path, answers: Sequence[Answer]) -> list[float]:
    """Run one function of a module whose other imports are missing."""
    tree = ast.parse((folder / "pix2struct/metrics.py").read_text(encoding="utf-8"))
    tree.body = [
        node
        for node in tree.body
        if getattr(node, "name", "") == "relaxed_correctness"
        or getattr(node, "module", "") == "typing"
    ]
    scope: dict[str, Any] = {}
    exec(compile(tree, "metrics.py", "exec"), scope)
    return [float(scope["relaxed_correctness"](a.references[0], a.response)) for a in answers]


def _docvqa_points(folder: Path, answers: Sequence[Answer]) -> list[float]:
    script = _import_file(folder / "eval_mm/infographicsvqa_eval.py")
    with TemporaryDirectory() as scratch:
        key_file = Path(scratch) / "truth.json"
        response_file = Path(scratch) / "sent.json"
        references = [
            {"questionId": n, "question": "", "answers": answer.references}
            for n, answer in enumerate(answers)
        ]
        responses = [{"questionId": n, "answer": a.response} for n, a in enumerate(answers)]
        key_file.write_text(json.dumps({"data": references}), encoding="utf-8")
        response_file.write_text(json.dumps(responses), encoding="utf-8")
        options = Namespace(answer_types=False, anls_threshold=0.5)
        rows = script.evaluate_method(key_file, response_file, options)["per_sample_result"]
    return [float(rows[str(n)]["score"]) for n in range(len(answers))]


def _vqa_points(folder: Path, answers: Sequence[Answer]) -> list[float]:
    script = _import_file(folder / "eval_mm/vqa_eval.py")
    keys: dict[int, Any] = {}
    for n, answer in enumerate(answers):
        people = [{"answer": key, "answer_id": k} for k, key in enumerate(answer.references)]
        keys[n] = {"answers": people, "question_type": "", "answer_type": ""}
    responses = {n: {"answer": answer.response} for n, answer in enumerate(answers)}
    evaluation = script.VQAEval(
        SimpleNamespace(qa=keys, getQuesIds=lambda: list(keys)),
        SimpleNamespace(qa=responses),
        n=12,  # decimals of the percentage that the script keeps
    )
    evaluation.updateProgress = lambda progress: None
    evaluation.evaluate(list(keys))
    return [evaluation.evalQA[n] / 100 for n in keys]


SCRIPTS: Sequence[Script] = (
    Script(
        "ChartQA",
        "google-research/pix2struct",
        "945f27e",
        _chartqa_points,
        official_rules.chartqa,
        1,
    ),
    Script("DocVQA", "QwenLM/Qwen-VL", "aa00ed0", _docvqa_points, official_rules.docvqa, 3),
    Script("VQA", "QwenLM/Qwen-VL", "aa00ed0", _vqa_points, official_rules.vqa, _PEOPLE),
)
"""DocVQA's and VQA's scripts, as Qwen-VL carries them, and ChartQA's rule as pix2struct has it."""


def _mathvista_answers(mathvista: Path, n_references: int) -> Iterator[Answer]:
    """Answers of all models, with the key and those of the first models as references."""
    responses: dict[str, list[str]] = {}
    keys: dict[str, str] = {}
    for file in sorted(mathvista.glob("results/*/output_*.json")):
        for pid, row in json.loads(file.read_text(encoding="utf-8")).items():
            if "extraction" in row:
                responses.setdefault(pid, []).append(str(row["extraction"]))
                keys[pid] = str(row["answer"])
    for pid, texts in responses.items():
        references = (keys[pid], *texts)[:n_references]
        yield from (Answer(text, references) for text in texts)


def compare(script: Script, folder: Path) -> str:
    """How many points of the script equal our restatement's; "" without its checkout."""
    checkout = folder / script.repository.partition("/")[2]
    answers = list(_mathvista_answers(folder / "MathVista", script.n_references))
    if not checkout.is_dir() or not answers:
        return ""
    n_equal = 0
    for answer, expected in zip(answers, script.points(checkout, answers), strict=True):
        row = question(kind="text", answer=answer.references)
        n_equal += abs(script.rule(answer.response, row) - expected) < 1e-9
    return f"{n_equal:,} of {len(answers):,} scores are equal"
