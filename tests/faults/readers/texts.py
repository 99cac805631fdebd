from bench_assets.core.answer_types.options import read_answer, read_options
from bench_assets.core.judging.second_look import AnswerForm
from bench_assets.core.judging.verdicts import RIGHT_OR_WRONG, YES_OR_NO, read_grade, read_word
from bench_assets.core.reading.blanks import read_blanks
from bench_assets.core.reading.choices import read_choice, read_choices
from bench_assets.core.reading.json_values import boxed_texts, read_json, unwrap_answer
from bench_assets.core.reading.non_answers import classify_non_answer
from bench_assets.core.reading.numbered_verdicts import read_numbered_verdicts
from bench_assets.core.reading.numbers import parse_quantity, read_number
from bench_assets.core.reading.readings import plain_text
from bench_assets.core.reading.reasoning import find_opening_tag, split_reasoning
from bench_assets.core.reading.yes_no import read_yes_no
from bench_assets.core.schema.signature import Signature
from bench_assets.core.text.number_words import list_numbers, words_to_digits
from bench_assets.suites.blink.scoring import official_option
from bench_assets.suites.cogbench.description.scoring import read_by_position
from bench_assets.suites.journeybench import answer_agreement, solution_verification
from bench_assets.suites.journeybench.captioning.dataset import split_captions
from bench_assets.suites.journeybench.hallucination_vqa.dataset import split_answers
from bench_assets.suites.journeybench.published_files import read_texts
from bench_assets.suites.journeybench.text_generation import json_objects
from bench_assets.suites.multi.construction import markup
from bench_assets.suites.multi.construction.markup import draw_table
from bench_assets.suites.multi.readers import careful_reader, says_image_is_missing
from bench_resources.datasets.hub import parse_release_address
from bench_resources.http.backoff import parse_duration, parse_retry_after, wait_of
from tests.fakes.multi_rows import item, question
from tests.faults.readers.reader import Reader, from_text

_OPTIONS = ("red", "blue", "red and blue", "none")
_RESPONSE = (
    b"The answer is (B).",
    b"<think>A?</think>**Answer:** B",
    b"1. [1] 2. [0]",
    b"12,345.6",
)
_HTML = (b'<p>1+1=<u>  </u></p><table><tr><td colspan="2">x</td></tr></table><sub>2</sub>$a$',)


def _read_carefully(text: str) -> object:
    """Read a response as that to a choice, to several choices, and to blanks."""
    questions = [question(kind, gold) for kind, gold in (("SA", "B"), ("MA", "BD"), ("FB", "1\n2"))]
    readers = [careful_reader(question_row) for question_row in questions]
    cleaned = [reader.clean(text) for reader in readers]
    return [
        (reader.letter(text), reader.letters(text), reader.blanks(text), reader.refuses(text))
        for reader, text in zip(readers, cleaned, strict=True)
    ]


def _row(name: str, read: object, *seeds: bytes, **fields: object) -> Reader:
    return Reader(
        name=name, kind="text", read=from_text(read), seeds=seeds or _RESPONSE, **fields  # type: ignore[arg-type]
    )  # fmt: skip


TEXTS = [
    _row("core.reading read_choice", lambda text: read_choice(text, _OPTIONS)),
    _row("core.reading read_choices", lambda text: read_choices(text, _OPTIONS), b"A, C"),
    _row("core.reading read_number", read_number),
    _row("core.reading parse_quantity", parse_quantity, b"3 1/2 inch", b"1.5 million"),
    _row("core.reading read_yes_no", read_yes_no, b"Yes.", b"The answer is no."),
    _row("core.reading read_blanks", lambda text: read_blanks(text, 2), b"1. a\n2. b", b"a; b"),
    _row("core.reading read_json", read_json, b'{"right": true}'),
    _row("core.reading classify_non_answer", classify_non_answer),
    _row("core.reading plain_text", plain_text, b"**B**</s>"),
    _row("core.reading split_reasoning", split_reasoning),
    _row("core.reading split_reasoning, own tags",
         lambda t: split_reasoning(t, ("<a>", "</a>"))),
    _row("core.reading find_opening_tag", find_opening_tag),
    _row("core.text list_numbers", list_numbers),
    _row("core.text words_to_digits", words_to_digits),
    _row("core.signature.Signature.parse", Signature.parse, b"codis|v1|main|data:abc|model:m|n:3",
         words=("|", ":", "n:")),
    _row("blink official_option", lambda text: official_option(text, 4)),
    _row("replies of readers", AnswerForm("choice", _OPTIONS).read_reply, b"(B) blue",
         b"(Z) Failed"),
    _row("core.reading read_word", lambda text: read_word(text, {**RIGHT_OR_WRONG, **YES_OR_NO}),
         b"right", b"Wrong.", b"yes", b"**No**"),
    _row("core.reading read_grade", lambda text: read_grade(text, 1, 5), b"Score (1-5): 4",
         b"4/5"),
    _row("core.reading read_numbered_verdicts", lambda text: read_numbered_verdicts(text, 7),
         b"1. [1] 2. [0]",),
    _row("cogbench read_by_position", lambda text: read_by_position(text, 7), b"1. [1] 2. [0]"),
    _row("journeybench read_extraction", solution_verification.read_extraction, b"12", b"unknown"),
    _row("journeybench agreement.read_answer",
         lambda text: answer_agreement.read_answer(question(options=("image1", "image2")), text)),
    _row("journeybench agreement.missing_steps",
         lambda text: answer_agreement.missing_steps("1+1=2\n2*3=6", text)),
    _row("journeybench json_objects", json_objects, b'Here:\n```json\n[{"a": 1}]\n```'),
    _row("journeybench split_captions", split_captions, b'1. "A cat." 2. "A dog."'),
    _row("journeybench split_answers", split_answers, b"no one; nobody"),
    _row("journeybench texts", lambda text: read_texts({"url": text}, "url", ""), b"['a', 'b']",
         b'["a"]'),
    _row("multi careful scorer", _read_carefully, b"BD", b"\\boxed{B}"),
    _row("multi says_image_is_missing", says_image_is_missing),
    _row(
        "core.reading boxed_texts",
        boxed_texts,
        b"\\boxed{\\text{B}}",
        words=("\\boxed{", "\\text{"),
    ),
    _row("core.reading unwrap_answer", unwrap_answer, b'{"answer": "B"}', b'["B"]'),
    _row("multi markup of HTML",
         lambda text: markup.convert_item(item(format="html", specific=text)),
         *_HTML, words=("<table>", "<td rowspan=99999>", "<u>", "</u>", "<sub>", "<img src=a>")),
    _row("multi markup of LaTeX and text",
         lambda text: markup.convert_item(item(format="text", specific=text)),
         b"$\\frac{1}{2}$ ____"),
    _row("multi leftover_tags", markup.leftover_tags, b"a <b>b</b>"),
    _row("multi draw_table", draw_table, *_HTML,
         words=("<table>", "<td colspan=2>", "<td rowspan=99999999>", "<td colspan=-1>", "<tr>")),
    _row("plain read_answer", lambda text: read_answer(text, _OPTIONS), b"A", b"blue",
         b'["A","B"]'),
    _row("plain read_options", lambda text: read_options([text]), b"['a', 'b']", b'["a", "b"]'),
    _row("waits.duration", parse_duration, b"6m0s", words=("h", "m", "s", "ms", "9" * 400)),
    _row("waits.retry_after", parse_retry_after, b"Wed, 21 Oct 2015 07:28:00 GMT", b"120",
         words=("99999", "9" * 400, "GMT", "+9999", "Fri,", ":")),
    _row("waits.wait_of", lambda text: wait_of(
        {"x-ratelimit-reset": text, "retry-after-ms": text}, text), b"1767225600",
         b'{"retryDelay": "2s"}', words=("9" * 400,)),
    _row("sources.read_address", parse_release_address, b"hf:a/b@main#below=x",
         b"https://x.org/a.zip#sha256=" + b"0" * 64, words=("hf:", "#", "@", "[", "%", "://")),
]  # fmt: skip
