"""Terminal output of one score with its inputs, and of a difference with its causes."""

import json
from collections.abc import Iterator, Mapping
from string import ascii_uppercase
from typing import Any

from bench_assets.comparison.causes import EvaluationTables
from bench_assets.core.schema.metric_text import format_percent
from bench_assets.core.schema.signature import partial_part
from bench_assets.core.text.escaping import escape_to_one_line
from bench_assets.workspace.console.output import Cell, print_message, print_result, print_rows
from bench_assets.workspace.inspect.explanation import (
    EvaluationPair,
    SampleEvidence,
    ScoreEvidence,
)

_MAX_EXAMPLES = 3  # questions that are printed
_CONTEXT_LENGTH = 60  # characters shown on either side of a highlighted span
_MAX_TEXT_LENGTH = 100  # characters of a text that are printed


def print_explanation(evidence: ScoreEvidence) -> None:
    """Print every step from the question to the metric."""
    evaluation = f"{evidence.task}, {evidence.condition}, {evidence.model}"
    print_result(f"{evidence.question['question_id']}  ({evaluation})")
    _print_section("Question", "\n".join(_question_lines(evidence.question)))
    for n, image in enumerate(evidence.images, 1):
        size = image.problem or f"{image.width} x {image.height} px"
        print_result(f"\n## Image {n} of {len(evidence.images)}: {size}\n{image.path}")
    if evidence.people:
        _print_section("Annotations", "\n".join(map(_annotation_text, evidence.people)))
    sent = "as sent" if evidence.prompt["sent"] else "not sent to the model"
    _print_section(
        f"Prompt, {sent} ({evidence.prompt['sha256'][:12]})",
        _conversation_text(evidence.prompt["turns"]),
    )
    for draw in evidence.draws:
        _print_sample(draw, evidence)
    _print_section("Number", "\n".join(_metric_lines(evidence)))


def _print_sample(draw: SampleEvidence, evidence: ScoreEvidence) -> None:
    prediction, score = draw.prediction, draw.score
    position = (
        f" {prediction['sample'] + 1} of {len(evidence.draws)}" if len(evidence.draws) > 1 else ""
    )
    _print_section(
        f"Raw response{position}", prediction["raw_text"] or prediction["text"] or "(empty)"
    )
    print_result("\n".join(_response_notes(prediction)))
    if draw.thought:
        _print_section("Thought", draw.thought)
        _print_section("Scored text", prediction["text"] or "(nothing)")
    for judgement in draw.judgements:
        _print_judgement(judgement)
    _print_section("Parsed answer", "\n".join(_score_lines(score, evidence.scorer)))
    if draw.read_from:
        print_result(f"read from: {_highlight_span(prediction['text'], *draw.read_from)}")


def _highlight_span(text: str, start: int, end: int) -> str:
    r"""Put a span in brackets, with the text around it, on one line.

    >>> _highlight_span("The lamp is red.\nAnswer: B.", 25, 26)
    'The lamp is red. Answer: [B].'
    """
    before, after = text[max(0, start - _CONTEXT_LENGTH) : start], text[end : end + _CONTEXT_LENGTH]
    if start > _CONTEXT_LENGTH:
        before = f"…{before}"
    if end + _CONTEXT_LENGTH < len(text):
        after = f"{after}…"
    return escape_to_one_line(f"{before}[{text[start:end]}]{after}")


def _print_judgement(row: Mapping[str, Any]) -> None:
    if row["prompt"]:
        _print_section(
            f"Prompt of judge {row['judge']}: {row['criterion']}", _conversation_text(row["prompt"])
        )
    verdict = row["value"] or {True: "yes", False: "no", None: "unreadable"}[row["verdict"]]
    criterion = row["criterion"] or "verdict"
    text = row["error"] or row["response"] or "(empty)"
    _print_section(f"Judge {row['judge']}, {criterion}: {verdict}", text)


def _print_section(title: str, text: str) -> None:
    print_result(f"\n## {title}\n{text}")


def _question_lines(question: Mapping[str, Any]) -> Iterator[str]:
    if question["context"]:
        yield f"Context: {question['context']}"
    yield question["text"]
    for n, option in enumerate(question["options"]):
        label = ascii_uppercase[n] if n < len(ascii_uppercase) else str(n + 1)
        yield f"  ({label}) {option}"
    answer = " | ".join(question["answer"]) or "not published"
    yield f"Answer: {answer}"
    labels = {"category": question["category"], "group": question["group_id"], **question["labels"]}
    yield "; ".join(f"{name} {value:.120}" for name, value in labels.items() if value)
    yield f"{question['edition']} edition"


def _annotation_text(answer: Mapping[str, Any]) -> str:
    """Format an answer in two lines: what was answered, then when and with which tool."""
    values = "; ".join(f"{name}: {' | '.join(v)}" for name, v in answer["values"].items())
    changed = f", changed {answer['changed_at']}" if answer["changed_at"] != answer["at"] else ""
    unit = f"{answer['task']} {answer['unit_id']}, shown {answer['unit_digest'][:12] or '?'}"
    exclusion = f" (does not count: {answer['complaint']})" if answer["complaint"] else ""
    history = f"{answer['at'] or 'unknown time'}{changed}"
    tool = f"{answer['tool']} {answer['tool_id']}, task {answer['task_version'][:12] or '?'}"
    return f"{answer['person']} on {unit}: {values or 'nothing'}{exclusion}\n  {history}; {tool}"


def _conversation_text(prompt_json: str) -> str:
    lines = []
    try:
        turns = json.loads(prompt_json)
    except (ValueError, RecursionError):  # not a prompt as we store it: shown unchanged
        return prompt_json
    for role, parts in turns:
        texts = [f"[image {p['image'][:12]}]" if isinstance(p, dict) else p for p in parts]
        lines.append(f"{role}: " + " ".join(texts))
    return "\n".join(lines)


def _response_notes(prediction: Mapping[str, Any]) -> Iterator[str]:
    facts = [f"decoding {prediction['decoding']}"]
    if prediction["finish_reason"]:
        facts.append(f"ended by {prediction['finish_reason']}")
    tokens = {"prompt": prediction["prompt_tokens"], "response": prediction["completion_tokens"]}
    facts += [f"{n} {name} tokens" for name, n in tokens.items() if n is not None]
    if prediction["seconds"] is not None:
        facts.append(f"{prediction['seconds']:.2f} s")
    yield f"({', '.join(facts)})"
    served = f"served by {prediction['served']}" if prediction.get("served") else ""
    for note in (served, prediction["note"], prediction["no_answer"], prediction["error"]):
        if note:
            yield f"({note})"


def _score_lines(score: Mapping[str, Any], scorer: str) -> Iterator[str]:
    if not score:
        yield "not scored yet"
        return
    answer = " | ".join(score["answer"]) or "(no answer parsed)"
    unread = "; unread: neither a rule nor a model read it" if score.get("unread") else ""
    yield f"{answer}{unread}"
    points = "no points: unscored" if score["points"] is None else f"{score['points']:g} points"
    note = f"; {score['note']}" if score["note"] else ""
    yield f"{points} of {score['max_points']:g}{note}"
    if score["error"]:
        yield score["error"]
    if scorer:
        yield f"scorer {scorer}"


def _metric_lines(evidence: ScoreEvidence) -> Iterator[str]:
    if not evidence.value:
        yield "not measured yet"
        return
    cells = {name: _metric_cell(value) for name, value in evidence.value.items()}
    interval = f"{cells['low']} to {cells['high']}"
    yield f"{cells['metric']} {cells['value']} ({interval}) over {cells['n_scored']} units"
    yield evidence.signature
    if part := partial_part(evidence.signature):
        yield f"PARTIAL: {part}"
    if bounds := evidence.value["bounds"]:
        unread, (low, high) = format_percent(evidence.value["unread"]), bounds
        yield f"{unread} unread: between {low:.3f} and {high:.3f}"
    if evidence.value["people"]:
        yield evidence.value["people"]
    if evidence.stale:
        yield f"stale: {evidence.stale}"


def _metric_cell(value: object) -> object:
    if value is None:
        return "none"
    return f"{value:.3f}" if isinstance(value, float) else value


CAUSE_COLUMNS: Mapping[str, Cell] = {
    "cause": lambda row: row.cause,
    "effect": lambda row: "unknown" if row.effect is None else f"{row.effect:+.3f}",
    "questions": lambda row: str(row.n),
    "better": lambda row: str(row.n_better),
    "worse": lambda row: str(row.n_worse),
    "before": lambda row: row.before,
    "after": lambda row: row.after,
}


def print_difference(pair: EvaluationPair) -> None:
    """Print the causes of one task, and its first questions whose points changed."""
    overall = pair.causes[0]
    print_result(f"\n{pair.task.name}, {overall.metric}: {pair.before.name} -> {pair.after.name}")
    print_rows(pair.causes, as_json=False, columns=CAUSE_COLUMNS)
    for reason in pair.stale:
        print_message(f"stale: {reason}")
    examples = overall.examples[:_MAX_EXAMPLES]
    for question_id in examples:
        _print_example(pair, question_id)
    if n_more := overall.n_better + overall.n_worse - len(examples):
        print_message(f"... and {n_more} more; `bench explain ID --model M` explains one")


def _print_example(pair: EvaluationPair, question_id: str) -> None:
    question = pair.after.records[question_id].question
    print_result(f"\n{question_id}: {_truncate(question.text)}")
    for evaluation in (pair.before, pair.after):
        print_result(f"  {evaluation.name}: {_responses_text(evaluation, question_id)}")


def _responses_text(evaluation: EvaluationTables, question_id: str) -> str:
    record = evaluation.records[question_id]
    points = ", ".join("unscored" if s.points is None else f"{s.points:g}" for s in record.scores)
    texts = " / ".join(row.error or row.text or "(nothing)" for row in record.predictions)
    return f"{_truncate(texts)!r} ({points})"


def _truncate(text: str) -> str:
    line = escape_to_one_line(text)
    return line if len(line) <= _MAX_TEXT_LENGTH else line[: _MAX_TEXT_LENGTH - 1] + "…"
