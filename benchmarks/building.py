"""What a large MULTI costs before its first request, and ranking 12,000 images for 12,000 queries.

CPU is told in that of `import dagster` in the same run, as U.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from resource import RUSAGE_SELF, getrusage
from time import process_time

from PIL import Image

from benchmarks.figures import BENCH, Figure, cpu_of_importing, expect, run_command, start
from tests.fakes.chat_server import ChatServer

N, N_IMAGES = 20_000, 7_500
N_RANKED, DIMENSIONS = 12_000, 512
_SIGNS = "甲乙丙丁天地人水火木金土山川日月星云风雨雷电大小多少上下左右前后东西南北春夏秋冬"


def measure(folder: Path) -> list[Figure]:
    """Evaluate until the first request, and rank."""
    dagster = cpu_of_importing("dagster", folder)
    asked = _until_asked(folder)
    ranked = expect(run_command(folder / "ranked", sys.executable, "-m", "benchmarks.building"))
    cpu, peak = map(float, ranked.output.split()[-2:])
    shape = f"{N_RANKED:,} x {N_RANKED:,}"
    return [
        Figure(
            what=f"MULTI of {N:,}, {N_IMAGES:,} images: CPU before the first request, in U",
            value=asked / dagster,
            most=50,
        ),
        Figure(what=f"retrieval of {shape}: CPU in U", value=cpu / dagster, most=25),
        Figure(what=f"retrieval of {shape}: peak memory", value=peak, most=500, unit="MiB"),
    ]


def _until_asked(folder: Path) -> float:
    """CPU seconds of an evaluation until the server hears of it."""
    write_release(folder / "multi")
    with ChatServer("A", latency=1, keep_bodies=False) as server:
        home = folder / "home"
        home.mkdir()
        (home / "bench.toml").write_text(
            '[sources]\nmulti = "../multi"\n'
            f'[models.m]\nkind = "server"\nmodel = "m"\nbase_url = "{server.base_url}"\n'
        )
        command = (str(BENCH), "evaluate", "multi", "--model", "m")
        process = start(home, *command, output=subprocess.DEVNULL)
        while not server.n_requests:
            if process.poll() is not None:
                raise RuntimeError(f"bench ended with {process.returncode} before it asked")
            time.sleep(0.02)
        process.kill()
        _, _, used = os.wait4(process.pid, 0)
    return used.ru_utime + used.ru_stime


def write_release(folder: Path) -> None:
    """Write a release of MULTI: problems of one question, some with an image of their own."""
    images = folder / "images"
    images.mkdir(parents=True)
    rng = Random(0)
    problems = {}
    for number in range(N):
        shown = []
        if number < N_IMAGES:
            shown = [f"{number}.png"]
            drawn = Image.frombytes("L", (32, 32), rng.randbytes(1024)).resize((96, 96))
            drawn.save(images / shown[0])
        problems[f"czsx_{number}"] = _problem(rng, shown)
    written = json.dumps(problems, ensure_ascii=False)
    (folder / "problem_v1.json").write_text(written, encoding="utf-8")


def _problem(rng: Random, images: list[str]) -> dict[str, object]:
    options = "\n".join(f"{letter}. {_words(rng, 6)}" for letter in "ABCD")
    place = "[IMAGE_1]\n" if images else ""
    return {
        "problem_content": "",
        "problem_content_list": [f"{place}{_words(rng, 30)}的是[MASK]\n{options}"],
        "problem_type_list": ["单选"],
        "problem_answer_list": [rng.choice("ABCD")],
        "problem_analysis_list": [""],
        "img_paths": images,
        "knowledge": [],
        "education": "初中",
        "subject": "数学",
        "difficulty": "2",
        "quality": "4",
    }


def _words(rng: Random, length: int) -> str:
    return "".join(rng.choices(_SIGNS, k=length))


def main() -> None:
    """Rank; the last words of output are CPU seconds and the peak memory in MiB."""
    import numpy as np

    from bench_assets.core.metrics.retrieval import nearest

    drawn = np.random.default_rng(0).standard_normal((2, N_RANKED, DIMENSIONS), np.float32)
    queries, candidates = drawn / np.linalg.norm(drawn, axis=2, keepdims=True)
    right = [[number] for number in range(N_RANKED)]
    started = process_time()
    nearest(queries, candidates, right, [[]] * N_RANKED, 10)
    cpu = process_time() - started
    sys.stdout.write(f"{cpu} {getrusage(RUSAGE_SELF).ru_maxrss / 1024}\n")


if __name__ == "__main__":
    main()
