"""The harness of `make bench-gpu`, with tiny models on the CPU and stand-ins for vLLM."""

import sys
from collections.abc import Mapping
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.gpu.__main__ import main
from benchmarks.gpu.checkpoints import TINY
from benchmarks.gpu.contenders import CONTENDERS, Scene
from benchmarks.gpu.measuring import REAL_PLAN, SETTINGS, TINY_PLAN, Runs, here, measured, missing
from benchmarks.gpu.page import PAGE, write_table
from benchmarks.gpu.questions import Album
from benchmarks.gpu.rows import HEADER, Row, Run, bound_of, lines
from benchmarks.gpu.watching import NVIDIA_SMI, Watching


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    folder = tmp_path_factory.mktemp("gpu")
    (folder / "images").mkdir()
    model = TINY[1]
    model.save(folder / "model", model.size)
    album = Album(folder=folder / "images")
    return Scene(checkpoint=folder / "model", album=album, batch_size=2, device="cpu")


@pytest.mark.parametrize("engine", CONTENDERS)
def test_every_contender_is_really_asked(scene: Scene, engine: str) -> None:
    run = here(engine, scene, {2: 5})[2]
    # The server's stand-in counts three tokens a response; no other model ever ends by itself.
    assert (run.samples, run.tokens) == (5, 15 if engine == "vLLM server" else 10)
    assert run.seconds > 0
    assert run.first_token is not None
    assert "vllm" not in sys.modules


def test_a_machine_without_a_gpu_is_told_what_would_be_measured(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks.gpu"])
    monkeypatch.setattr("torch.cuda.device_count", lambda: 0)
    main()
    said = " ".join(capsys.readouterr().out.split())
    assert "512 responses of 8 tokens and 64 responses of 512 tokens" in said
    assert said.endswith("Skipped: no CUDA device. --tiny tries the harness on the CPU.")


@pytest.mark.long
def test_the_other_family_is_made_and_asked_too(tmp_path: Path) -> None:
    plan = replace(TINY_PLAN, models=TINY[:1], settings=SETTINGS[1:3], questions={2: 3})
    rows = list(measured(plan, tmp_path, here))
    assert [(row.setting, row.why_not) for row in rows] == [("", ""), ("static cache", "")]
    assert [row.run.tokens for row in rows if row.run] == [6, 6]


def test_what_cannot_be_measured_is_a_row_that_says_why(tmp_path: Path) -> None:
    def breaks(engine: str, scene: Scene, questions: Mapping[int, int]) -> Runs:
        if engine == "plain generate":
            raise BrokenProcessPool
        raise RuntimeError(f"{engine} ran out of memory\nmore")

    empty = replace(TINY[0], save=lambda folder, size: None)
    rows = list(
        measured(replace(TINY_PLAN, models=[empty], settings=SETTINGS[:2]), tmp_path, breaks)
    )
    assert [(row.max_tokens, row.why_not) for row in rows] == [
        (2, "its process died"),
        (4, "its process died"),
        (2, "transformers ran out of memory"),
        (4, "transformers ran out of memory"),
    ]
    assert next(lines(rows))[3] == "not run: its process died"


def test_without_a_gpu_nothing_is_run_and_every_row_says_so(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is one")
    rows = list(measured(REAL_PLAN, tmp_path))
    assert {row.why_not for row in rows} == {"no CUDA device"}
    assert len(rows) == 4 * 2 * len(SETTINGS)
    assert missing(TINY_PLAN, "vllm", 2) == ""


def row(engine: str, setting: str = "", *, seconds: float = 1.0, busy: float | None = None) -> Row:
    run = Run(samples=100, tokens=800, seconds=seconds, first_token=0.05, busy=busy, memory=2048)
    return Row(model="m", max_tokens=8, engine=engine, setting=setting, run=run)


@pytest.mark.parametrize(
    ("of", "rows", "value", "holds"),
    [
        pytest.param(row("vllm", seconds=2), [row("vLLM alone")], 0.5, False, id="vllm, slow"),
        pytest.param(row("vllm", seconds=1.04), [row("vLLM alone")], 1 / 1.04, True, id="vllm"),
        pytest.param(row("vllm"), [row("transformers")], None, None, id="vLLM alone not run"),
        pytest.param(row("transformers", busy=0.95), [], 0.95, True, id="busy"),
        pytest.param(row("transformers", busy=0.89), [], 0.89, False, id="idle"),
        pytest.param(row("transformers"), [], None, None, id="busy, not known"),
        pytest.param(row("transformers", "compile", busy=0.5), [], None, None, id="compiled"),
        pytest.param(
            row("transformers", "2 devices", seconds=0.5),
            [row("transformers", "compile", seconds=9), row("transformers")],
            2.0,
            True,
            id="two devices",
        ),
        pytest.param(
            row("transformers", "2 devices", seconds=0.6),
            [row("transformers")],
            1 / 0.6,
            False,
            id="two devices, one idle",
        ),
        pytest.param(row("plain generate", busy=0.1), [], None, None, id="not ours"),
    ],
)
def test_bounds(of: Row, rows: list[Row], value: float | None, holds: bool | None) -> None:
    bound = bound_of(of, [*rows, of])
    assert (bound and bound.value) == (value and pytest.approx(value))
    assert (bound and bound.holds) == holds


def test_rows_as_they_are_printed() -> None:
    slow = row("vllm", seconds=2, busy=0.5)
    alone = row("vLLM alone", seconds=1, busy=0.987)
    assert list(lines([alone, slow])) == [
        ("m", "8", "vLLM alone", "100.00", "800", "99%", "50 ms", "2.0 GiB", "", ""),
        (
            *("m", "8", "vllm", "50.00", "400", "50%", "50 ms", "2.0 GiB"),
            *("0.50 of vLLM alone (>= 0.95)", "MISSED"),
        ),
    ]
    assert {len(cells) for cells in lines([slow])} == {len(HEADER)}


def test_gpus_are_watched_as_long_as_something_is_measured() -> None:
    said = "printf '0, 80, 1000\\n1, 40, 3000\\n2, 0, 9000\\n0, 100, 2000\\n'"
    with Watching(2, ("sh", "-c", said)) as watching:
        pass
    assert watching.busy == pytest.approx((0.8 + 0.4 + 1.0) / 3)
    assert watching.memory == 3000
    watching.forget()
    assert (watching.busy, watching.memory) == (None, None)


def test_without_nvidia_smi_nothing_is_known_of_gpus() -> None:
    with Watching(1, ("no-such-program", *NVIDIA_SMI[1:])) as watching:
        pass
    assert (watching.busy, watching.memory) == (None, None)


def test_the_table_goes_between_the_marks_of_the_page(tmp_path: Path) -> None:
    page = tmp_path / "gpu.md"
    page.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    for _ in range(2):  # and again in place of the first
        write_table([row("vllm")], page)
    before, *_, after = page.read_text(encoding="utf-8").split("<!--")
    assert before == PAGE.read_text(encoding="utf-8").split("<!--")[0]
    assert after == " end of the table -->\n"
    assert page.read_text(encoding="utf-8").count("| m | 8 | vllm | 100.00 |") == 1
    page.write_text("nothing", encoding="utf-8")
    with pytest.raises(ValueError, match="no place for the table"):
        write_table([], page)
