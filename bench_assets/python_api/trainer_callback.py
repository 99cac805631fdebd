"""``BenchCallback``: evaluates the checkpoints of a ``transformers.Trainer`` as they are saved."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from transformers import TrainerCallback

from bench_assets.core.schema.rows import read_shares
from bench_assets.python_api.evaluation import evaluate
from bench_assets.python_api.run import Run
from bench_resources.config.models_toml import toml_value

if TYPE_CHECKING:
    from transformers import TrainerControl, TrainerState, TrainingArguments

_log = logging.getLogger("bench_assets.trainer")


class BenchCallback(TrainerCallback):  # type: ignore[misc]  # transformers has no types
    """Evaluates each saved checkpoint, and logs the primary metrics to the trainer.

    >>> callback = BenchCallback(suites=["blink"], limit=50)
    >>> callback.runs
    {}

    Metrics are named ``bench/<task>/<metric>``, the shares and bounds beside them
    ``bench/<task>/unread`` and the like. They are written to the trainer's ``log_history`` at the
    step of the checkpoint; ``attach`` also sends them to the trainer's reporters, such as
    TensorBoard. A checkpoint that cannot be evaluated causes a warning, and training continues.
    Evaluation loads the checkpoint beside the trained model, on the same device.
    """

    def __init__(
        self,
        suites: str | Sequence[str],
        limit: int = 0,
        model_settings: Mapping[str, object] | None = None,
        **options: Any,  # noqa: ANN401
    ) -> None:
        """Store what to evaluate.

        Args:
            suites: Suites or tasks.
            limit: Evaluate at most this many questions per task; 0: all.
            model_settings: Entries of a model's section in bench.toml, such as
                ``{"max_tokens": 64}``.
            **options: Further arguments of ``bench.evaluate``, such as ``categories``.
        """
        self.runs: dict[int, Run] = {}
        """Evaluations by global step."""
        self._suites = [suites] if isinstance(suites, str) else list(suites)
        self._limit, self._options = limit, options
        settings = (model_settings or {}).items()
        self._model_suffix = "".join(f",{name}={toml_value(value)}" for name, value in settings)
        self._trainer: Any = None

    def __repr__(self) -> str:
        """Suites, and the steps that were evaluated."""
        steps = ", ".join(map(str, self.runs)) or "none yet"
        return f"<BenchCallback of {', '.join(self._suites)}; evaluated steps: {steps}>"

    def attach(self, trainer: Any) -> "BenchCallback":  # noqa: ANN401
        """Add the callback to an existing trainer, and log through it; returns the callback."""
        self._trainer = trainer
        if self not in trainer.callback_handler.callbacks:
            trainer.add_callback(self)
        return self

    def on_save(
        self,
        args: "TrainingArguments",
        state: "TrainerState",
        control: "TrainerControl",
        **_: Any,  # noqa: ANN401
    ) -> None:
        """Evaluate the checkpoint just saved, on one process, and log it; errors are warnings."""
        if not state.is_world_process_zero:
            return
        folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        try:
            with torch.random.fork_rng():  # keep the random state of the training
                model = f"{folder}{self._model_suffix}"
                run = evaluate(self._suites, model, limit=self._limit, **self._options)
        except Exception as error:  # noqa: BLE001 - training is worth more than any evaluation
            _log.warning("%s: not evaluated: %s", folder, error)
            return
        self.runs[state.global_step] = run
        logs = _primary_values(run)
        if self._trainer is not None:
            self._trainer.log(logs)
        else:
            epoch = {"epoch": state.epoch} if state.epoch is not None else {}
            state.log_history.append({**logs, **epoch, "step": state.global_step})


def _primary_values(run: Run) -> dict[str, float]:
    """Primary metric of each task, and its shares and bounds, by their names in the log."""
    logs: dict[str, float] = {}
    for evaluation in run.evaluations:
        task = evaluation.task
        for row in evaluation.metrics:
            if row.metric == task.primary_metric and row.category == "all":
                values = {row.metric: row.value, **read_shares(row)}
                logs |= {f"bench/{task.name}/{name}": value for name, value in values.items()}
    return logs
