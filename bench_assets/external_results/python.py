"""``bench.read_results``: results of other harnesses."""

from pathlib import Path

from bench_assets.catalog import load_catalog
from bench_assets.comparison.results import HomeResults
from bench_assets.external_results.storing import read_evaluations, store_evaluations
from bench_assets.python_api.calls import interface
from bench_assets.python_api.run import Run
from bench_assets.workspace.materialization.opening import prepare_process
from bench_resources.config.bench_toml import load_settings
from bench_resources.config.environment import default_home
from bench_resources.datasets.source_files import tables_of
from bench_resources.images.store import open_image_store


@interface
def read_results(file: str | Path, *, name: str = "", model: str = "", store: bool = False) -> Run:
    """Read results of another harness as a run, which can be shown, compared and audited.

    Reads a log of Inspect AI (``.eval`` or ``.json``), samples of lmms-eval
    (``*_samples_TASK.jsonl`` beside ``*_results.json``) or lm-evaluation-harness
    (``samples_TASK_*.jsonl`` beside ``results_*.json``), a review of EvalScope
    (``reviews/MODEL/*.jsonl``) or a file of VLMEvalKit (``MODEL_DATASET.xlsx``). Numbers and
    points are those of the harness; VLMEvalKit's responses without scores are scored here.

    >>> import json
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> folder = Path(mkdtemp())
    >>> sample = {"doc_id": 0, "input": "1+1?", "target": "2", "filtered_resps": "2", "acc": 1.0}
    >>> _ = (folder / "d_samples_sums.jsonl").write_text(json.dumps(sample))
    >>> results = {"results": {"sums": {"acc,none": 1.0}}, "model_name": "tiny"}
    >>> _ = (folder / "d_results.json").write_text(json.dumps(results))
    >>> result = read_results(folder / "d_samples_sums.jsonl")
    >>> result.model, result.evaluations[0].task.title, result.metrics.value[0].item()
    ('tiny', 'sums (lmms-eval)', 1.0)

    Args:
        file: The file.
        name: Name of the suite here; "": harness and task.
        model: Name of the model here; "": as in the file.
        store: Also store the results in the home, as ``bench import`` does, for its leaderboard,
            report and audit. Images are stored in any case.

    Raises:
        SourceError: If the file has none of these formats, or is damaged.
        SettingsError: If ``name`` is invalid, or names several tasks.
    """
    home = default_home()
    prepare_process(home)
    settings = load_settings(home)
    images = open_image_store(settings)
    evaluations = read_evaluations(Path(file), images, suite=name, model=model)
    if store:
        catalog = load_catalog(settings)
        store_evaluations(settings.home, tables_of(settings), catalog, evaluations)
    tasks = {evaluation.task.name: evaluation.task for evaluation in evaluations}
    rows = [row for evaluation in evaluations for row in evaluation.metrics]
    results = HomeResults(settings, tables_of(settings), tasks).of(rows)
    return Run(
        model=evaluations[0].model,
        evaluations=tuple(evaluations),
        results=tuple(results),
        image_store=images,
    )
