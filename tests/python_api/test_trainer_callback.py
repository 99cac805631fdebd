from types import SimpleNamespace
from typing import Any

import pytest
import torch

import bench_assets as bench
from bench_assets.python_api import trainer_callback
from tests.fakes.tiny_checkpoint import save_tiny_vlm

STEPS = 4
SHORT = {"max_tokens": 4}


@pytest.fixture
def checkpoint(tmp_path):
    return save_tiny_vlm(tmp_path / "start")


def build_trainer(checkpoint, out, callbacks):
    """A trainer that takes four steps on the CPU, and saves after every second one."""
    from transformers import (
        AutoProcessor,
        LlavaForConditionalGeneration,
        Trainer,
        TrainingArguments,
    )

    processor = AutoProcessor.from_pretrained(checkpoint)
    model = LlavaForConditionalGeneration.from_pretrained(checkpoint)
    words = processor.tokenizer("left or right, red or blue", return_tensors="pt").input_ids[0]
    rows = [{"input_ids": words, "labels": words} for _ in range(8)]
    arguments = TrainingArguments(
        output_dir=str(out),
        max_steps=STEPS,
        per_device_train_batch_size=1,
        save_steps=2,
        logging_steps=1,
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
        seed=0,
    )
    return Trainer(
        model=model,
        args=arguments,
        train_dataset=rows,
        processing_class=processor,
        callbacks=callbacks,
    )


def logged_values(trainer, name):
    """The values that a trainer logged under a name, by step."""
    return {row["step"]: row[name] for row in trainer.state.log_history if name in row}


def test_each_save_is_evaluated_and_logged(home, checkpoint, tmp_path):
    callback = bench.BenchCallback(suites=["fridge"], limit=2, model_settings=SHORT)
    trainer = build_trainer(checkpoint, tmp_path / "run", [callback])
    trainer.train()
    accuracies = logged_values(trainer, "bench/fridge/accuracy")
    assert accuracies == {step: run.metrics.value[0] for step, run in callback.runs.items()}
    assert accuracies.keys() == {2, 4}
    assert [run.partial for run in callback.runs.values()] == ["2 of 4 questions"] * 2
    assert callback.runs[4].model.startswith("run/checkpoint-4@")
    # Its four random tokens are no answer: the accuracy is anything from 0 to 1.
    assert logged_values(trainer, "bench/fridge/unread") == {2: 1.0, 4: 1.0}
    assert logged_values(trainer, "bench/fridge/if_unread_wrong") == {2: 0.0, 4: 0.0}
    assert logged_values(trainer, "bench/fridge/if_unread_right") == {2: 1.0, 4: 1.0}


def test_evaluations_do_not_change_the_training(home, checkpoint, tmp_path):
    without_callback = build_trainer(checkpoint, tmp_path / "without", [])
    without_callback.train()
    callback = bench.BenchCallback(suites=["fridge"], limit=2, model_settings=SHORT)
    with_callback = build_trainer(checkpoint, tmp_path / "with", [callback])
    random_state = torch.random.get_rng_state()
    with_callback.train()
    assert not torch.equal(random_state, torch.random.get_rng_state())  # training draws from it
    losses = logged_values(with_callback, "loss")
    assert losses.keys() == {1, 2, 3, 4}
    assert losses == logged_values(without_callback, "loss")


@pytest.mark.long
def test_an_attached_callback_reaches_the_reporters(home, checkpoint, tmp_path):
    from transformers import TrainerCallback

    reported: list[Any] = []

    class Reporter(TrainerCallback):
        def on_log(self, args, state, control, logs=None, **_):
            reported.extend((state.global_step, name) for name in logs)

    trainer = build_trainer(checkpoint, tmp_path / "run", [Reporter()])
    callback = bench.BenchCallback(suites="fridge", limit=2, model_settings=SHORT).attach(trainer)
    assert callback.attach(trainer) is callback
    trainer.train()
    assert {(2, "bench/fridge/accuracy"), (4, "bench/fridge/accuracy")} <= set(reported)


def test_an_evaluation_that_crashes_does_not_end_training(tmp_path, monkeypatch, caplog):
    def crash(*_, **__):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(trainer_callback, "evaluate", crash)
    saved = SimpleNamespace(is_world_process_zero=True, global_step=2)
    callback = bench.BenchCallback(suites=["fridge"])
    callback.on_save(SimpleNamespace(output_dir=str(tmp_path)), saved, None)
    assert callback.runs == {}
    assert "checkpoint-2: not evaluated: CUDA out of memory" in caplog.text
