"""``BenchCallback`` in a real ``transformers.Trainer`` with a model of a few thousand weights."""

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
def start(tmp_path):
    return save_tiny_vlm(tmp_path / "start")


def trainer(start, out, callbacks):
    from transformers import (
        AutoProcessor,
        LlavaForConditionalGeneration,
        Trainer,
        TrainingArguments,
    )

    processor = AutoProcessor.from_pretrained(start)
    model = LlavaForConditionalGeneration.from_pretrained(start)
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


def logged(run, name):
    return {row["step"]: row[name] for row in run.state.log_history if name in row}


def test_each_save_is_evaluated_and_logged_and_training_stays_as_it_is(home, start, tmp_path):
    alone = trainer(start, tmp_path / "alone", [])
    alone.train()
    callback = bench.BenchCallback(suites=["fridge"], limit=2, model_settings=SHORT)
    run = trainer(start, tmp_path / "run", [callback])
    state = torch.random.get_rng_state()
    run.train()
    assert logged(run, "bench/fridge/accuracy").keys() == {2, 4}
    assert [one.partial for one in callback.runs.values()] == ["2 of 4 questions"] * 2
    assert callback.runs[4].model.startswith("run/checkpoint-4@")
    assert logged(run, "bench/fridge/accuracy")[4] == callback.runs[4].metrics.value[0]
    # Its four random tokens are no answer: the accuracy is anything from 0 to 1.
    assert logged(run, "bench/fridge/unread") == {2: 1.0, 4: 1.0}
    assert logged(run, "bench/fridge/if_unread_wrong") == {2: 0.0, 4: 0.0}
    assert logged(run, "bench/fridge/if_unread_right") == {2: 1.0, 4: 1.0}
    assert logged(run, "loss") == logged(alone, "loss")
    assert not torch.equal(state, torch.random.get_rng_state())  # it is training that draws


@pytest.mark.long
def test_an_attached_callback_reaches_the_reporters(home, start, tmp_path):
    from transformers import TrainerCallback

    seen: list[Any] = []

    class Reporter(TrainerCallback):
        def on_log(self, args, state, control, logs=None, **_):
            seen.extend((state.global_step, name) for name in logs if name.startswith("bench/"))

    run = trainer(start, tmp_path / "run", [Reporter()])
    callback = bench.BenchCallback(suites="fridge", limit=2, model_settings=SHORT).attach(run)
    assert callback.attach(run) is callback
    run.train()
    assert {(2, "bench/fridge/accuracy"), (4, "bench/fridge/accuracy")} <= {*seen}


def test_an_evaluation_that_crashes_does_not_end_training(tmp_path, monkeypatch, caplog):
    def crash(*_, **__):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(trainer_callback, "evaluate", crash)
    saved = SimpleNamespace(is_world_process_zero=True, global_step=2)
    callback = bench.BenchCallback(suites=["fridge"])
    callback.on_save(SimpleNamespace(output_dir=str(tmp_path)), saved, None)
    assert callback.runs == {}
    assert "checkpoint-2: not evaluated: CUDA out of memory" in caplog.text
