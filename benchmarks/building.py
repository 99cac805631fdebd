"""MULTI's tables before the first request, and the ranking of 12,000 images for 12,000 queries.

CPU seconds are multiples of those of ``import dagster`` in the same run.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from time import process_time

from PIL import Image

from benchmarks.figures import BENCH, Figure, measure_import, run_command, start_command
from tests.fakes.chat_server import ChatServer

N_QUESTIONS, N_IMAGES = 20_000, 7_500
N_RANKED, DIMENSIONS = 12_000, 512
_CHARACTERS = "甲乙丙丁天地人水火木金土山川日月星云风雨雷电大小多少上下左右前后东西南北春夏秋冬"


def measure(folder: Path) -> list[Figure]:
    """Evaluate MULTI until the first request, and rank images in another process."""
    import_seconds = measure_import("dagster", folder)
    seconds_before_request = _evaluate_until_first_request(folder)
    ranking = run_command(folder / "ranked", sys.executable, "-m", "benchmarks.building")
    ranking_seconds = float(ranking.output.split()[-1])
    release = f"MULTI, {N_QUESTIONS:,} questions, {N_IMAGES:,} images"
    shape = f"{N_RANKED:,} x {N_RANKED:,}"
    return [
        Figure(
            f"{release}: CPU before the first request: import dagster = 1",
            seconds_before_request / import_seconds,
            at_most=50,
        ),
        Figure(
            f"retrieval of {shape}: CPU: import dagster = 1",
            ranking_seconds / import_seconds,
            at_most=25,
        ),
        Figure(f"retrieval of {shape}: peak memory", ranking.peak_mib, at_most=500, unit="MiB"),
    ]


def _evaluate_until_first_request(folder: Path) -> float:
    """CPU seconds of an evaluation, which is killed when the server receives a request."""
    write_release(folder / "multi")
    with ChatServer("A", latency=1, keep_bodies=False) as server:
        home = folder / "home"
        home.mkdir()
        (home / "bench.toml").write_text(
            '[sources]\nmulti = "../multi"\n'
            f'[models.m]\nkind = "server"\nmodel = "m"\nbase_url = "{server.base_url}"\n'
        )
        command = (str(BENCH), "evaluate", "multi", "--model", "m")
        process = start_command(home, *command, output=subprocess.DEVNULL)
        while not server.n_requests:
            if process.poll() is not None:
                raise RuntimeError(f"bench: exit code {process.returncode} before a request")
            time.sleep(0.02)
        process.kill()
        _, _, usage = os.wait4(process.pid, 0)
    return usage.ru_utime + usage.ru_stime


def write_release(folder: Path) -> None:
    """Write a release of MULTI: problems of one question, the first ones with an image each."""
    images = folder / "images"
    images.mkdir(parents=True)
    rng = Random(0)
    problems = {}
    for number in range(N_QUESTIONS):
        image_names = []
        if number < N_IMAGES:
            image_names = [f"{number}.png"]
            noise = Image.frombytes("L", (32, 32), rng.randbytes(1024)).resize((96, 96))
            noise.save(images / image_names[0])
        problems[f"czsx_{number}"] = _draw_problem(rng, image_names)
    text = json.dumps(problems, ensure_ascii=False)
    (folder / "problem_v1.json").write_text(text, encoding="utf-8")


def _draw_problem(rng: Random, image_names: list[str]) -> dict[str, object]:
    options = "\n".join(f"{letter}. {_draw_text(rng, 6)}" for letter in "ABCD")
    placeholder = "[IMAGE_1]\n" if image_names else ""
    return {
        "problem_content": "",
        "problem_content_list": [f"{placeholder}{_draw_text(rng, 30)}的是[MASK]\n{options}"],
        "problem_type_list": ["单选"],
        "problem_answer_list": [rng.choice("ABCD")],
        "problem_analysis_list": [""],
        "img_paths": image_names,
        "knowledge": [],
        "education": "初中",
        "subject": "数学",
        "difficulty": "2",
        "quality": "4",
    }


def _draw_text(rng: Random, length: int) -> str:
    return "".join(rng.choices(_CHARACTERS, k=length))


def main() -> None:
    """Rank images for queries, and print the CPU seconds of ranking."""
    import numpy as np

    from bench_assets.core.metrics.retrieval import nearest

    vectors = np.random.default_rng(0).standard_normal((2, N_RANKED, DIMENSIONS), np.float32)
    queries, candidates = vectors / np.linalg.norm(vectors, axis=2, keepdims=True)
    right = [[number] for number in range(N_RANKED)]
    started = process_time()
    nearest(queries, candidates, right, [[]] * N_RANKED, 10)
    sys.stdout.write(f"{process_time() - started}\n")


if __name__ == "__main__":
    main()
