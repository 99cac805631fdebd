from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench_assets.core.schema.measured_figures import NULL_FOREIGN, JudgeFigure
from bench_resources.tables.measured_figures import add_figures, read_figures


def _figure(judge: str) -> JudgeFigure:
    return JudgeFigure(
        task="codis", judge=judge, setup="", prompts="0c", at="2026-11-28T20:00:00.000000+00:00",
        figure=NULL_FOREIGN, value=0.5, low=0.4, high=0.6, n=10,
    )  # fmt: skip


def test_concurrent_commands_lose_no_figures(tmp_path: Path) -> None:
    judges = [f"judge-{n}" for n in range(32)]
    with ThreadPoolExecutor(8) as threads:
        for judge in judges:
            threads.submit(add_figures, tmp_path, JudgeFigure, [_figure(judge)])
    assert sorted(figure.judge for figure in read_figures(tmp_path, JudgeFigure)) == sorted(judges)
