# ruff: noqa: E501  (paragraphs of pages)
"""The pages docs/known-benchmarks.md and docs/proofs.md, from the frozen results."""

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench_resources.config.known_benchmarks import known_benchmarks
from tests.proofs.benchmarks import BENCHMARKS, KnownBenchmark
from tests.proofs.recompute import FROZEN, read_frozen
from tests.proofs.scripts import SCRIPTS
from tests.proofs.styles import style_lines

COUNTS = FROZEN / "counts.json"
RESULTS = FROZEN / "results.json"
PROOFS = Path(__file__).with_name("proofs.toml")
_KNOWN = """# Known benchmarks, row by row

[`make proofs`](proofs.md) generates this page from public repositories, at the commits in the table. "Rows kept" counts the rows that become questions; the others are rejected. `bench evaluate` knows six of these benchmarks without a section: `mmstar`, `mmmu`, `mathvista`, `hallusionbench`, `pope` and `chartqa`. The others need a [section](benchmarks.md#file-of-questions).

| benchmark | repository, commit and its date | rows kept | note |
|---|---|---|---|
"""
_RESPONSES = """
## Responses

The authors published responses of the models below. Most models have the names of the authors' files. `testmini_template_for_leaderboard_submission` is MathVista's template for submissions. A response has up to three scores:

- *ours*: the score of the default scorer
- *official*: the score of `--scorer official`, which restates the authors' rule
- *published*: the score that the authors published

The columns "differ" count responses whose score is not the published one, among the responses that have both scores.
Accuracies are means over the *n* responses that have the score. Compare two accuracies only if their *n* is the same. "-" means that there are no such scores.

| benchmark | model | responses | differ: ours | differ: official | accuracy (n): ours | accuracy (n): official | accuracy (n): published |
|---|---|---|---|---|---|---|---|
"""
_STYLES = """
## Short answers

We wrote 15 short answers for ChartQA, and nine each for DocVQA and VQA, in ten styles, such as `The answer is 23.` and `**23**`. All are right. The table counts those that the authors' rule and our metric score differently:

| rule | answers with different scores |
|---|---|
"""
_UNPROVEN = """
## Not compared

The other [known benchmarks](benchmarks.md#known-benchmarks) were not compared row by row: {names}.
"""
_PROOFS = """# Proofs

This page compares bench-assets with other people's code, papers and data. `make proofs FILES=FOLDER` generates it; `FOLDER` contains checkouts of the repositories, such as `FOLDER/MathVista`. The numbers of tests include those marked `long`: run them with `-m ""`. Tests that need the authors' data look in `shared/data` beside the checkout, and are skipped without it. [Known benchmarks](known-benchmarks.md) has the results of each benchmark and model.

| what is compared | source | command | result and date |
|---|---|---|---|
"""


def proofs() -> list[Mapping[str, str]]:
    """The proofs that are tests: claim, source and path of the tests of each."""
    rows: list[Mapping[str, str]] = tomllib.loads(PROOFS.read_text(encoding="utf-8"))["proof"]
    return rows


def counts() -> dict[str, dict[str, Any]]:
    """The number of rows kept and the day of counting, by benchmark."""
    row_counts: dict[str, dict[str, Any]] = json.loads(COUNTS.read_text(encoding="utf-8"))
    return row_counts


def known_page() -> str:
    row_counts = counts()
    rows: list[str] = []
    lines: list[str] = []
    reasons: list[str] = []
    for benchmark in BENCHMARKS:
        if benchmark.name in row_counts:
            rows.append(_benchmark_row(benchmark, row_counts[benchmark.name]["kept"]))
        if points := read_frozen(benchmark):
            lines += _response_lines(benchmark, points)
            if benchmark.differs:
                reasons.append(f"- {benchmark.title}: {benchmark.differs}")
    proven = {benchmark.name for benchmark in BENCHMARKS}
    unproven = [name for name in known_benchmarks() if name not in proven]
    return "".join(
        [
            _KNOWN,
            *(f"{row}\n" for row in rows),
            _RESPONSES,
            *(f"{line}\n" for line in lines),
            "\nReasons for differences between ours and the authors' scores:\n\n",
            *(f"{reason}\n" for reason in reasons),
            _STYLES,
            *(f"{line}\n" for line in style_lines()),
            _UNPROVEN.format(names=", ".join(f"`{name}`" for name in unproven)),
        ]
    )


def _benchmark_row(benchmark: KnownBenchmark, n_kept: int) -> str:
    link = f"[{benchmark.repository}](https://github.com/{benchmark.repository})"
    note = "; ".join(filter(None, (benchmark.lost, benchmark.note))) or "-"
    return (
        f"| {benchmark.title} | {link} {benchmark.commit}, {benchmark.day} |"
        f" {n_kept:,} of {benchmark.n_rows:,} | {note} |"
    )


def _response_lines(benchmark, models):
    """A line for each model: how many points differ from the published ones, and accuracies."""
    for model, points in models.items():
        published = [row for row in points if row.published is not None]
        ruled = [row for row in published if row.official is not None]
        n_ours = sum(row.ours != row.published for row in published)
        n_official = sum(row.official != row.published for row in ruled)
        accuracies = [
            _accuracy([row.ours for row in points]),
            _accuracy([row.official for row in points if row.official is not None]),
            _accuracy([row.published for row in published if row.published is not None]),
        ]
        ours_differ = f"{n_ours} of {len(published):,}" if published else "-"
        official_differ = f"{n_official} of {len(ruled):,}" if ruled else "-"
        yield (
            f"| {benchmark.title} | {model} | {len(points):,} | {ours_differ} |"
            f" {official_differ} | {' | '.join(accuracies)} |"
        )


def _accuracy(points: Sequence[float]) -> str:
    """Format the mean of points with their number; "-" without points."""
    return f"{sum(points) / len(points):.3f} ({len(points):,})" if points else "-"


def proofs_page() -> str:
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    lines = [
        f"| {proof['claim']} | {proof['source']} | `pytest {proof['tests']}` |"
        f" {results.get(proof['tests'], 'not run')} |"
        for proof in proofs()
    ]
    lines += [
        f"| {script.title}: the scores of `--scorer official` and of the published script, on responses to MathVista |"
        f" {script.repository} {script.commit} | `make proofs FILES=FOLDER` |"
        f" {results[script.title]} |"
        for script in SCRIPTS
        if script.title in results
    ]
    lines += list(_benchmark_lines())
    return "".join([_PROOFS, *(f"{line}\n" for line in lines)])


def _benchmark_lines() -> Iterator[str]:
    """A line for each benchmark: how many rows are kept, and how many points are equal."""
    row_counts = counts()
    for benchmark in BENCHMARKS:
        if benchmark.name not in row_counts:
            continue
        n_kept, day = row_counts[benchmark.name]["kept"], row_counts[benchmark.name]["day"]
        subject = f"{benchmark.title}: rows that become questions"
        result = f"{n_kept:,} of {benchmark.n_rows:,} rows"
        points = [row for rows in read_frozen(benchmark).values() for row in rows]
        published = [row for row in points if row.published is not None]
        ruled = [row for row in published if row.official is not None]
        if ruled:
            n_equal = sum(row.official == row.published for row in ruled)
            subject += "; scores of `--scorer official` and published scores"
            result += f"; {n_equal:,} of {len(ruled):,} scores are equal"
        elif published:
            n_equal = sum(row.ours == row.published for row in published)
            subject += "; scores of the default scorer and published scores"
            result += f"; {n_equal:,} of {len(published):,} scores are equal"
        yield (
            f"| {subject} | {benchmark.repository} {benchmark.commit} |"
            f" `make proofs FILES=FOLDER` | {result}, {day} |"
        )
