"""Terminal output of one score with its inputs, and of a difference with its causes."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from bench_assets.comparison.causes import EvaluationTables
from bench_assets.core.schema.metric_text import format_percent
from bench_assets.core.schema.signature import partial_part
from bench_assets.core.text.escaping import escape_to_one_line
from bench_assets.workspace.console.output import Cell, print_message, print_result, print_rows
from bench_assets.workspace.inspect.explanation import (
    EvaluationPair,
    ImageEvidence,
    SampleEvidence,
    ScoreEvidence,
)


def print_explanation(one: ScoreEvidence) -> None:
    """Print every step from the question to the metric."""
    print_result(f"{one.question['question_id']}  ({one.task}, {one.condition}, {one.model})")
    _section("Question", "\n".join(_question(one.question)))
    for n, image in enumerate(one.images, 1):
        print_result(f"\n## Image {n} of {len(one.images)}: {_size(image)}\n{image.path}")
    if one.people:
        _section("Annotations", "\n".join(map(_annotation_text, one.people)))
    sent = "as sent" if one.prompt["sent"] else "not sent to the model"
    _section(
        f"Prompt, {sent} ({one.prompt['sha256'][:12]})",
        _conversation_text(one.prompt["turns"]),
    )
    for draw in one.draws:
        _print_sample(draw, one)
    _section("Number", "\n".join(_metric_lines(one)))


def _print_sample(draw: SampleEvidence, one: ScoreEvidence) -> None:
    prediction, score = draw.prediction, draw.score
    position = f" {prediction['sample'] + 1} of {len(one.draws)}" if len(one.draws) > 1 else ""
    _section(
        f"Raw response{position}",
        prediction["raw_text"] or prediction["text"] or "(empty)",
    )
    print_result("\n".join(_response_notes(prediction)))
    if draw.thought:
        _section("Thought", draw.thought)
        _section("Scored text", prediction["text"] or "(nothing)")
    for judgement in draw.judgements:
        _print_judgement(judgement)
    _section("Parsed answer", "\n".join(_score_lines(score, one.scorer)))
    if draw.read_from:
        print_result(f"read from: {_marked(prediction['text'], *draw.read_from)}")


def _marked(text: str, start: int, end: int) -> str:
    r"""A span in brackets, with what is around it, on one line.

    >>> _marked("The lamp is red.\nAnswer: B.", 25, 26)
    'The lamp is red. Answer: [B].'
    """
    before, after = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
    dots = "…" * (start > _AROUND), "…" * (end + _AROUND < len(text))
    return escape_to_one_line(f"{dots[0]}{before}[{text[start:end]}]{after}{dots[1]}")


def _print_judgement(row: Mapping[str, Any]) -> None:
    if row["prompt"]:
        _section(
            f"Prompt of judge {row['judge']}: {row['criterion']}",
            _conversation_text(row["prompt"]),
        )
    word = row["value"] or {True: "yes", False: "no", None: "unreadable"}[row["verdict"]]
    text = row["error"] or row["response"]
    title = f"Judge {row['judge']}, {row['criterion'] or 'verdict'}: {word}"
    _section(title, text or "(empty)")


def _section(title: str, text: str) -> None:
    print_result(f"\n## {title}\n{text}")


def _question(question: Mapping[str, Any]) -> Iterator[str]:
    if question["context"]:
        yield f"Context: {question['context']}"
    yield question["text"]
    for n, option in enumerate(question["options"]):
        yield f"  ({chr(65 + n) if n < 26 else n + 1}) {option}"
    yield f"Answer: {' | '.join(question['answer']) or 'not published'}"
    labels = {"category": question["category"], "group": question["group_id"], **question["labels"]}
    yield "; ".join(f"{name} {value:.120}" for name, value in labels.items() if value)
    yield f"{question['edition']} edition"


def _annotation_text(answer: Mapping[str, Any]) -> str:
    """One answer: person, time, task, tool, and whether it counts."""
    values = "; ".join(
        f"{name}: {' | '.join(entries)}" for name, entries in answer["values"].items()
    )
    changed = f", changed {answer['changed_at']}" if answer["changed_at"] != answer["at"] else ""
    unit = f"{answer['task']} {answer['unit_id']}, shown {answer['unit_digest'][:12] or '?'}"
    counts = f" (does not count: {answer['complaint']})" if answer["complaint"] else ""
    history = f"{answer['at'] or 'unknown time'}{changed}"
    where = f"{answer['tool']} {answer['tool_id']}, task {answer['task_version'][:12] or '?'}"
    return f"{answer['person']} on {unit}: {values or 'nothing'}{counts}\n  {history}; {where}"


def _size(image: ImageEvidence) -> str:
    return image.problem or f"{image.width} x {image.height} px"


def _conversation_text(written: str) -> str:
    """Render a prompt's JSON as a conversation."""
    lines = []
    try:
        turns = json.loads(written)
    except (ValueError, RecursionError):  # not a prompt as we store it: shown unchanged
        return written
    for role, parts in turns:
        texts = [f"[image {p['image'][:12]}]" if isinstance(p, dict) else p for p in parts]
        lines.append(f"{role}: " + " ".join(texts))
    return "\n".join(lines)


def _response_notes(prediction: Mapping[str, Any]) -> Iterator[str]:
    tokens = {"prompt": prediction["prompt_tokens"], "response": prediction["completion_tokens"]}
    counted = [f"{n} {name} tokens" for name, n in tokens.items() if n is not None]
    timed = [f"{prediction['seconds']:.2f} s"] if prediction["seconds"] is not None else []
    finish = [f"ended by {prediction['finish_reason']}"] if prediction["finish_reason"] else []
    yield f"({', '.join(['decoding ' + prediction['decoding'], *finish, *counted, *timed])})"
    served = f"served by {prediction['served']}" if prediction.get("served") else ""
    for note in (served, prediction["note"], prediction["no_answer"], prediction["error"]):
        if note:
            yield f"({note})"


def _score_lines(score: Mapping[str, Any], scorer: str) -> Iterator[str]:
    if not score:
        yield "not scored yet"
        return
    unread = "; unread: neither a rule nor a model read it" if score.get("unread") else ""
    yield f"{' | '.join(score['answer']) or '(no answer parsed)'}{unread}"
    points = "no points: unscored" if score["points"] is None else f"{score['points']:g} points"
    yield f"{points} of {score['max_points']:g}" + (f"; {score['note']}" if score["note"] else "")
    if score["error"]:
        yield score["error"]
    if scorer:
        yield f"scorer {scorer}"


def _metric_lines(one: ScoreEvidence) -> Iterator[str]:
    if not one.value:
        yield "not measured yet"
        return
    cells = {name: "none" if v is None else v for name, v in one.value.items()}
    value, low, high = (
        f"{cells[name]:.3f}" if isinstance(cells[name], float) else cells[name]
        for name in ("value", "low", "high")
    )
    yield f"{cells['metric']} {value} ({low} to {high}) over {cells['n_scored']} units"
    yield one.signature
    if part := partial_part(one.signature):
        yield f"PARTIAL: {part}"
    if bounds := one.value["bounds"]:
        unread = format_percent(one.value["unread"])
        yield f"{unread} unread: between {bounds[0]:.3f} and {bounds[1]:.3f}"
    if one.value["people"]:
        yield one.value["people"]
    if one.stale:
        yield f"stale: {one.stale}"


_MAX_EXAMPLES = 3  # questions that are printed
_AROUND = 60  # characters shown on either side of what an answer was read from
_MAX_TEXT_LENGTH = 100  # characters

CAUSE_COLUMNS: Mapping[str, Cell] = {
    "cause": lambda row: row.cause,
    "effect": lambda row: "unknown" if row.effect is None else f"{row.effect:+.3f}",
    "questions": lambda row: str(row.n),
    "better": lambda row: str(row.n_better),
    "worse": lambda row: str(row.n_worse),
    "before": lambda row: row.before,
    "after": lambda row: row.after,
}


def print_difference(compared: EvaluationPair) -> None:
    """Print the causes of one task, and its first questions whose points changed."""
    overall = compared.causes[0]
    print_result(
        f"\n{compared.task.name}, {overall.metric}: {compared.before.name} -> {compared.after.name}"
    )
    print_rows(compared.causes, as_json=False, columns=CAUSE_COLUMNS)
    for reason in compared.stale:
        print_message(f"stale: {reason}")
    for name in overall.examples[:_MAX_EXAMPLES]:
        _print_example(compared, name)
    if rest := overall.n_better + overall.n_worse - len(overall.examples[:_MAX_EXAMPLES]):
        print_message(f"... and {rest} more; `bench explain ID --model M` explains one")


def _print_example(compared: EvaluationPair, name: str) -> None:
    question = compared.after.records[name].question
    print_result(f"\n{name}: {_truncate(question.text)}")
    for side in (compared.before, compared.after):
        print_result(f"  {side.name}: {_side_text(side, name)}")


def _side_text(side: EvaluationTables, name: str) -> str:
    answered = side.records[name]
    points = ", ".join("unscored" if s.points is None else f"{s.points:g}" for s in answered.scores)
    texts = " / ".join(row.error or row.text or "(nothing)" for row in answered.predictions)
    return f"{_truncate(texts)!r} ({points})"


def _truncate(text: str) -> str:
    line = escape_to_one_line(text)
    return line if len(line) <= _MAX_TEXT_LENGTH else line[: _MAX_TEXT_LENGTH - 1] + "…"
