"""``bench.evaluate``: evaluates one model on suites, as the command ``bench evaluate`` does."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from bench_assets.asset_factory.question_subset import WHOLE, QuestionSubset
from bench_assets.core.schema.errors import BenchError, SettingsError
from bench_assets.evaluation.outcomes import Accepted
from bench_assets.evaluation.task import Evaluation
from bench_assets.python_api import arguments
from bench_assets.python_api.benchmark import Benchmark, add_suites
from bench_assets.python_api.calls import interface
from bench_assets.python_api.run import Run
from bench_assets.workspace.console.output import print_message
from bench_assets.workspace.evaluate.subset import evaluate_suite_subsets, without_needless_limit
from bench_assets.workspace.evaluate.whole import evaluate_suite, stored_evaluations
from bench_assets.workspace.materialization.model_arguments import save_models
from bench_assets.workspace.materialization.opening import check_names, open_workbench
from bench_resources.config.models_toml import toml_value
from bench_resources.images.store import open_image_store
from bench_resources.models.registry.named_models import ResolvedModel

if TYPE_CHECKING:
    from bench_assets.workspace.materialization.workbench import Workbench
    from bench_resources.models.registry.functions import ModelFunction


@interface
def evaluate(  # noqa: PLR0913  (an option each)
    suites: "str | Benchmark | Sequence[str | Benchmark]",
    model: "str | Path | ModelFunction",
    *,
    limit: int = 0,
    categories: str | Sequence[str] = (),
    condition: str = "main",
    source: str | Path = "",
    judge: str = "",
    reader: "str | ModelFunction" = "",
    scorer: str = "",
    elicit: str = "",
    accept: Sequence[Accepted] = (),
    name: str = "",
    temperature: float | None = None,
    top_p: float | None = None,
    max_tokens: int | None = None,
    seed: int | None = None,
    n: int = 1,
) -> Run:
    """Evaluate a model on suites or tasks; cached responses are reused.

    Tables and cached responses are in the home folder, as for the commands: ``$BENCH_HOME``, or
    ``bench_home`` in the working directory. Ctrl-C keeps the responses so far.

    >>> result = evaluate("codis", model="random", limit=4)
    >>> result.partial
    '4 of 80 questions'
    >>> result = evaluate("codis", model=lambda images, prompt: "I cannot tell.", limit=4)
    >>> print(result.metrics.value[0])
    0.0

    Args:
        suites: Suites or tasks, such as ``"blink"`` or ``["codis", "journeybench/mcot"]``; or a
            file with a section ``[benchmarks.NAME]``, ``"mybench.toml"``; or a ``Benchmark``.
        model: A checkpoint's folder, ``hf:org/name``, ``http://host:8000/v1#name``, a name of
            bench.toml, or a function ``(images, prompt) -> text`` of PIL images and a text.
        limit: Evaluate at most this many questions per task, stratified by category; 0: all. A
            partial evaluation is not stored in tables and the leaderboard.
        categories: Evaluate only these categories; also partial.
        condition: ``"main"`` or an ablation.
        source: Folder with the suite's files or an address, instead of bench.toml's; one suite.
            It is remembered for commands that read the suite's results. "default": bench.toml's.
        judge: A model of bench.toml, or ``"rules"``; needs exactly one suite.
        reader: Looks again at responses that no rule reads: a model of bench.toml, a function,
            ``"self"`` or ``"rules"`` (no reader); needs exactly one suite.
        scorer: Name of the scorer; needs exactly one suite.
        elicit: ``"likelihood"`` takes the likeliest option, without parsing a response; see
            ``core.schema.elicitation``.
        accept: ``"refused"`` scores requests that the provider permanently refuses as wrong,
            ``"mixed"`` accepts several models that answered under one name.
        name: Name for a function. Responses are cached by this name and the function's code; use
            another name when anything else that it uses changes, such as weights. Without a name,
            later calls do not reuse responses.
        temperature: 0 is greedy decoding. None here and below: as the model's section says; a model
            with other decoding has a name of its own, such as ``my-model+temperature=0.7``.
        top_p: Nucleus sampling: the share of probability that is kept.
        max_tokens: Longest response, in tokens.
        seed: Seed of sampling; response m to a question adds m.
        n: Responses to each question; several also give ``avg@n`` and ``pass@k``.

    Raises:
        BenchError: If an argument is invalid, the model cannot be opened, or questions remain
            without a response.
    """
    subset = QuestionSubset(
        limit=arguments.require_count("limit", limit, ", 0 for all"),
        categories=tuple(arguments.require_names("categories", categories)),
    )
    names = add_suites("suites", suites)
    if not names:
        raise SettingsError("suites: expected a suite or task, got none")
    only_name = names[0] if len(names) == 1 else ""
    if not only_name and (source or judge or reader or scorer):
        raise SettingsError("source, judge, reader and scorer need exactly one suite")
    reader_name, sections = _reader_argument(reader)
    decoding = {"temperature": temperature, "top_p": top_p, "max_tokens": max_tokens, "seed": seed}
    model_settings = {key: value for key, value in decoding.items() if value is not None}
    if arguments.require_count("n", n, ", 1 or more", least=1) > 1:
        model_settings["n"] = n
    with open_workbench(
        suite=only_name,
        source=source,
        judge=judge,
        scorer=scorer,
        reader=reader_name,
        models=[model_argument(model, name, elicit, model_settings)],
        elicit=elicit,
        sections=sections,
        accept=accept,
        rule="stated",
    ) as bench:
        model_name = bench.resolved[0].name
        check_names(bench, names, [model_name], [condition])
        subset = without_needless_limit(bench, names, [(model_name, condition)], subset)
        if subset == WHOLE or not callable(model):  # no table names a function otherwise
            save_models(bench.resolved, bench.settings)
        evaluations, failures = _evaluate_suites(bench, names, model_name, condition, subset)
        metrics = [row for evaluation in evaluations for row in evaluation.metrics]
        return Run(
            model=model_name,
            evaluations=tuple(evaluations),
            failures=tuple(map(str, failures)),
            results=tuple(bench.results(metrics)),
            image_store=open_image_store(bench.settings),
        )


def _evaluate_suites(
    bench: "Workbench", suites: Sequence[str], model: str, condition: str, subset: QuestionSubset
) -> tuple[list[Evaluation], list[BenchError]]:
    """Evaluate a model on each suite; prints failures and, of whole suites, the outcomes."""
    runs = [(model, condition)]
    evaluations: list[Evaluation] = []
    failures: list[BenchError] = []
    if subset != WHOLE:
        for _, partial, errors in evaluate_suite_subsets(bench, suites, runs, subset):
            evaluations += partial
            failures += errors
    else:
        for suite in suites:
            result = evaluate_suite(bench, suite, runs)
            evaluations += stored_evaluations(bench, result.names, model, condition)
            failures += result.failures
            for sentence in (*result.outcomes, *result.rejected):
                print_message(sentence)
    for failure in failures:
        print_message(f"warning: {failure}")
    return evaluations, failures


def model_argument(
    model: "str | Path | ModelFunction",
    name: str = "",
    elicit: str = "",
    settings: Mapping[str, object] = MappingProxyType({}),
) -> str | ResolvedModel:
    """Convert the model of a call to an argument of the commands, or resolve a function.

    ``settings`` are added to the model's section.

    Raises:
        SettingsError: If the model is of another type, or does not support the other arguments.
    """
    if isinstance(model, str | Path):
        if name:
            raise SettingsError(f"name={name!r}: only a Python function can be given a name")
        return ",".join(
            [str(model), *(f"{key}={toml_value(value)}" for key, value in settings.items())]
        )
    if not callable(model):
        raise SettingsError(
            f"model: expected a path, a name or a function (images, prompt) -> text, got"
            f" {type(model).__name__}"
        )
    unsupported = [key for key in settings if key != "n"]
    if elicit:
        unsupported.append("elicit")
    if unsupported:
        raise SettingsError(f"{', '.join(unsupported)}: not available for a Python function")
    from bench_resources.models.registry.functions import resolve_function

    return resolve_function(model, name, settings)


def _reader_argument(reader: "str | ModelFunction") -> tuple[str, dict[str, Mapping[str, Any]]]:
    """Name of a call's reader, and the sections to add; a function is named after its code."""
    if isinstance(reader, str):
        return reader, {}
    from bench_resources.models.registry.functions import (
        code_digest,
        function_name,
        resolve_function,
    )

    digest = code_digest(reader)
    name = f"{function_name(reader)}@{digest}" if digest else ""
    model = resolve_function(reader, name)
    return model.name, {model.name: model.section}
