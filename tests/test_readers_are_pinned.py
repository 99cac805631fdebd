"""Whatever reads responses by words stands in the READERS of a test that pins them.

A reader is found by what uses it: it is imported, over however many modules, by what gives points.
"""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

from tests.pinned_words import words_of

ROOT = Path(__file__).parents[1]
GIVE_POINTS = (
    "bench_assets/suites/**/scoring.py",
    "bench_assets/suites/**/task.py",
    "bench_assets/suites/**/recogni*.py",
    "bench_assets/file_benchmarks/scoring.py",
    "bench_assets/evaluation/pipeline.py",
)
_IMPORT = re.compile(r"^\s*from (bench_assets[\w.]*) import (\([^)]*\)|[^\n]*)", re.MULTILINE)
READ_NO_RESPONSES = {
    "annotation.answers.validation": "what people choose from",
    "core.answer_types.registry": "names of answer types and settings",
    "core.images.completeness": "formats of image files",
    "core.images.decoding": "formats of image files",
    "core.text.escaping": "characters that Markdown and terminals take for their own",
    "suites.blink.builders.circled_points": "how raw data sets are laid out",
    "suites.blink.builders.drafts": "forms of built questions",
    "suites.blink.builders.image_choices": "how raw data sets are laid out",
    "suites.blink.builders.multi_view_reasoning": "how raw data sets are laid out",
    "suites.blink.builders.object_localization": "how raw data sets are laid out",
    "suites.blink.builders.raw_files": "how raw data sets are laid out",
    "suites.blink.builders.whole_images": "how raw data sets are laid out",
    "suites.blink.construction.recipes": "names of tasks",
    **{
        f"core.parsing.{name}": "patterns are data, tried by core/parsing/test_words.py"
        for name in (
            *("answer_forms", "choices", "normalization", "option_names", "option_tokens"),
            *("phrases", "sentences", "statements", "wrapped_answers"),
        )
    },
    "suites.multi.parsing.blanks": "how blanks are numbered, tried by the corpus of responses",
    "core.parsing.non_answers": "names of kinds; the patterns are data, tried by test_non_answers",
    "core.answer_types.options": "how files write options and answers",
    "core.answer_types.metrics": "metrics by name",
    "core.schema.chat": "how providers say that a response ended, and kinds of refusals",
    "core.tables.json_records": "kinds of values in the authors' files",
    "core.metrics.ptb_tokenizer": "words of the Stanford tokenizer, pinned by its own output",
    "annotation.responses.verdicts": "what people choose from",
    "evaluation.aggregation": "metrics of confidence by name",
    "evaluation.reviews": "words that reviewers fill in",
    "suites.blink.visual_prompts": "sizes of circles, which are drawn",
    "suites.blink.dataset": "columns of the authors' files",
    "suites.blink.prompts": "what is asked",
    "suites.codis.annotation": "what people choose from",
    "file_benchmarks.row_files": "names of columns and of formats of files",
    "suites.codis.votes": "what people vote on",
    "suites.cogbench.construction.annotation": "what people choose from",
    "suites.cogbench.construction.annotation_files": "columns of the annotators' files",
    "suites.cogbench.dataset.source": "columns of the authors' files",
    "suites.cogbench.vqa.annotation": "what people choose from",
    "evaluation.constant_responses": "constant responses that are tried",
    "suites.journeybench.hallucination_vqa.dataset": "columns of the authors' files",
    "suites.journeybench.raw_material": "names of files and criteria",
    "suites.journeybench.published_files": "names of the authors' files",
    "suites.multi.construction.decisions": "columns of the annotators' files",
    "suites.multi.construction.selection": "types of questions and weights of models",
    "suites.multi.construction.item_checks": "defects and near-duplicates of problems",
    "suites.multi.construction.markup": "the markup of problems",
    "suites.multi.construction.formulas": "the formulas of problems",
    "suites.multi.construction.annotation": "what people choose from",
    "suites.multi.prompts": "what is asked",
    "suites.multi.dataset.questions": "kinds and levels of problems",
    "suites.multi.construction.transformations": "how problems are transformed",
    "suites.multi.scoring": "scorers by name",
    "suites.multi.dataset.source": "columns of the authors' files",
    "suites.multi.construction.question_transforms": "how problems are transformed",
}


def imported(file: Path) -> Iterator[str]:
    """The modules that a file may import, with what is no module among them."""
    for found in _IMPORT.finditer(file.read_text(encoding="utf-8")):
        yield found[1]
        yield from (f"{found[1]}.{name}" for name in re.findall(r"\w+", found[2]))


def readers() -> list[str]:
    """Modules with words that what gives points is made of."""
    todo = [file for pattern in GIVE_POINTS for file in ROOT.glob(pattern)]
    found = set(todo)
    while todo:
        files = {ROOT / f"{name.replace('.', '/')}.py" for name in imported(todo.pop())}
        new = {one for one in files - found if one.is_file() and "tests" not in one.parts}
        found |= new
        todo += new
    names = (".".join(one.relative_to(ROOT).with_suffix("").parts) for one in sorted(found))
    ours = (name for name in names if name.startswith("bench_assets."))
    return [name for name in ours if words_of(importlib.import_module(name))]


def pinned() -> set[str]:
    """Modules that tests hand to ``survivors``, in a list that is written out."""
    found: set[str] = set()
    for file in ROOT.glob("tests/**/test_*.py"):
        text = file.read_text(encoding="utf-8")
        if "survivors(" in text and file.name != "test_pinned_words.py":
            found |= set(_handed_over(ast.parse(text)))
    return found


def _handed_over(tree: ast.Module) -> Iterator[str]:
    modules, lists = {}, {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            modules |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            lists[node.targets[0].id] = node.value
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="survivors"), args=[first, *_]):
                listed = lists.get(first.id) if isinstance(first, ast.Name) else first
                assert isinstance(listed, ast.List), ast.unparse(node)
                yield from (modules[one.id] for one in listed.elts if isinstance(one, ast.Name))


def test_every_reader_of_responses_is_pinned():
    by_words = {name.removeprefix("bench_assets.") for name in readers()}
    kept = {name.removeprefix("bench_assets.") for name in pinned()}
    assert sorted(by_words - kept - READ_NO_RESPONSES.keys()) == []
    assert sorted(READ_NO_RESPONSES.keys() - by_words | READ_NO_RESPONSES.keys() & kept) == []
