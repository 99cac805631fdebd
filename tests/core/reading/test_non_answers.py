"""What was never an answer is told apart from answers that speak of such things."""

from dataclasses import replace
from itertools import product

import pytest

from bench_assets.core.reading.non_answers import classify_non_answer
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import ByModel
from bench_resources.models.registry.baselines import ScriptedModel
from tests.cases import read_rows
from tests.fakes.any_responses import asked_in
from tests.fakes.rows import prediction, question
from tests.test_any_response import TASKS

TOOL, ERROR, FLAGGED = "a tool call", "an error message", "a moderation object"
LEAK, ECHO, PLAN = (
    "a leak of the chat template",
    "an echo of the prompt",
    "an unfinished plan",
)
FORMS = {
    TOOL: [
        '<tool_call>\n{"name": "zoom", "arguments": {"option": "GOLD"}}\n</tool_call>',
        'I will zoom in.\n<tool_call>{"name": "crop", "arguments": {"to": "(GOLD)"}}</tool_call>',
        '<|python_tag|>look.call(target="GOLD")',
        '[TOOL_CALLS][{"name": "look", "arguments": {"at": "GOLD"}}]',
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>look\nGOLD<｜tool▁calls▁end｜>",
        '<function=look>{"answer": "GOLD"}</function>',
        'functools[{"name": "look", "arguments": {"answer": "GOLD"}}]',
        '{"name": "select_option", "arguments": {"option": "GOLD"}}',
        '```json\n{"tool_calls": [{"function": {"name": "pick", "arguments": "GOLD"}}]}\n```',
        '{"type": "tool_use", "id": "t1", "name": "pick", "input": {"option": "GOLD"}}',
        '[zoom_image(option="GOLD")]',
        'image_tool.crop(option="GOLD")',
        "Thought: I should look.\nAction: look\nAction Input: GOLD",
        '```tool_code\nprint(look("GOLD"))\n```',
        '<|channel|>commentary to=functions.look <|message|>{"option": "GOLD"}',
        '<invoke name="look"><parameter name="option">GOLD</parameter></invoke>',
        '✿FUNCTION✿: look\n✿ARGS✿: {"option": "GOLD"}',
        '{"tool": "zoom", "tool_input": {"option": "GOLD"}}',
        '{"function": "select", "parameters": {"choice": "GOLD"}}',
    ],
    ERROR: [
        "KeyError: 'GOLD'",
        "Traceback (most recent call last):\n  File \"run.py\", line 3\nKeyError: 'GOLD'",
        "openai.BadRequestError: Error code: 400 - {'error': {'message': 'option GOLD'}}",
        '{"error": {"message": "no such option: GOLD", "code": 500}}',
        "502 Bad Gateway (GOLD)",
        "Error: request timed out, node GOLD",
        "Internal Server Error: GOLD",
        "Rate limit reached for GOLD. Try again in 20 s.",
        "<html><head><title>504 Gateway Time-out</title></head><body>GOLD</body></html>",
        "CUDA out of memory on device GOLD",
        "[ERROR] upstream connect error or disconnect, reset reason: GOLD",
        "Failed to obtain answer via API. (GOLD)",
        "请求超时：GOLD",
        "Error: undefined index GOLD",
        "API Error: GOLD",
        "upstream request timeout (GOLD)",
        "You exceeded your current quota, please check your plan and billing details. GOLD",
        "This model's maximum context length is 4096 tokens. You requested 5000 tokens. GOLD",
        "Invalid image: GOLD",
        "错误：无效的选项GOLD",
        "curl: (7) Failed to connect to GOLD port 80: Connection refused",
        "Killed: GOLD",
        "Terminated: GOLD",
        "Aborted (core dumped): GOLD",
        "SIGKILL: GOLD",
        "OOMKilled: GOLD",
        "exit status 137: GOLD",
        "Process finished with exit code 1: GOLD",
        "Worker (pid: 12) was sent SIGKILL: GOLD",
        "bash: GOLD: command not found",
        "GOLD: No such file or directory",
        "Permission denied: 'GOLD'",
        "ECONNREFUSED: GOLD",
        "unexpected end of JSON input: GOLD",
        "list index out of range: GOLD",
        "Cannot read properties of undefined (reading 'GOLD')",
        "'NoneType' object is not subscriptable (GOLD)",
        "stopiteration: GOLD",
        "StopAsyncIteration: GOLD",
        "keyerror: 'GOLD'",
        "SystemExit: GOLD",
        "UserWarning: GOLD",
        "Uncaught TypeError: GOLD is not a function",
        "java.lang.NullPointerException: GOLD",
        "Fatal Python error: GOLD",
        'data: {"choices": [{"delta": {"content": "GOLD"}}]}',
        "undefined GOLD",
        "null GOLD",
        "NaN GOLD",
        "None of type GOLD",
        "NoneType: GOLD",
        "[object Object] GOLD",
        "assert",
        "assert GOLD",
        "[IMAGE] GOLD",
        "[IMAGE]",
        "<image> GOLD",
        "<|image_pad|> GOLD",
        "[UNK][UNK] GOLD",
        "![image](GOLD)",
        "进程被终止：GOLD",
        "500: GOLD",
        "#REF!",
        "#REF! GOLD",
        "RuntimeError GOLD",
        "#N/A",
        "#VALUE!",
        "#DIV/0! GOLD",
        "#NAME? GOLD",
        "#NULL!",
        "#NUM!",
        "#ERROR! GOLD",
        "404: GOLD",
        "503 - GOLD",
        "HTTP 500 GOLD",
        "HTTP 404: GOLD",
        "Error 503: GOLD",
        "Error 500 GOLD",
        "ERROR GOLD",
        "ValueError - GOLD",
        "ValueError('GOLD')",
        "KeyError GOLD",
        "An error occurred: GOLD",
        "An exception occurred while processing GOLD",
        "Unexpected error: GOLD",
        "Something went wrong. GOLD",
        "Oops! Something went wrong (GOLD)",
        "Fatal: GOLD",
        "fatal error: GOLD",
        "panic: GOLD",
        "FAILED: GOLD",
        "[Errno 2] GOLD",
        "OSError: [Errno 2] GOLD",
        "errno 104 GOLD",
        "Timeout: GOLD",
        "TimeoutError GOLD",
        "Timed out after 60 s: GOLD",
        "Request failed with status code 500: GOLD",
        "429: GOLD",
        "status 500: GOLD",
        "code=500 msg=GOLD",
        "E1234: GOLD",
        "ORA-00942: GOLD",
        "ERR_CONNECTION_RESET GOLD",
        "java.lang.IllegalStateException GOLD",
        "System.NullReferenceException: GOLD",
        "std::bad_alloc GOLD",
        "terminate called after throwing an instance of 'GOLD'",
        "Unhandled exception: GOLD",
        "Caught exception: GOLD",
        "[Exception] GOLD",
        "<error>GOLD</error>",
        "<Error><Code>GOLD</Code></Error>",
        "Warning: GOLD is deprecated",
        "DeprecationWarning GOLD",
        "异常：GOLD",
        "错误 500：GOLD",
        "发生错误：GOLD",
        "出错了：GOLD",
        "系统异常 GOLD",
        "运行时错误：GOLD",
        "服务器返回500：GOLD",
        "调用失败：GOLD",
        "请求出错 GOLD",
        "#N/A N/A",
        "-inf GOLD",
        "<nil> GOLD",
        "nil GOLD",
        "(null) GOLD",
        '{"ok": false, "message": "GOLD"}',
        '{"success": false, "reason": "GOLD"}',
        '{"code": 500, "data": "GOLD"}',
    ],
    FLAGGED: [
        '{"flagged": true, "categories": {"GOLD": true}}',
        '{"promptFeedback": {"blockReason": "SAFETY", "option": "GOLD"}}',
        '{"finish_reason": "content_filter", "text": "GOLD"}',
        '{"is_harmful": false, "option": "GOLD"}',
        "unsafe\nS1",
        "Blocked by content policy (GOLD)",
        '{"category": "violence", "label": "GOLD"}',
        '{"categories": ["GOLD"], "label": "safe"}',
        '{"label": "unsafe", "score": 0.93, "text": "GOLD"}',
        '{"is_safe": false, "option": "GOLD"}',
        '{"category": "GOLD", "severity": "high"}',
        '{"violation": 1, "option": "GOLD"}',
        '{"toxicity": 0.9, "option": "GOLD"}',
        "User Safety: unsafe\nSafety Categories: GOLD",
    ],
    LEAK: [
        "<|im_start|>user\nThe answer is GOLD<|im_end|>",
        "<|start_header_id|>user<|end_header_id|>\n\nGOLD",
        "[INST] Is it (GOLD)? [/INST]",
        "### Human: The answer is GOLD",
        "USER: GOLD\nASSISTANT:",
        "<start_of_turn>user\nGOLD<end_of_turn>\n<start_of_turn>model\n",
        "{% for message in messages %}GOLD{% endfor %}",
        "<|endoftext|>Question: What is GOLD?",
        "system\nYou are a helpful assistant.\nuser\nIs it GOLD?\nassistant",
    ],
    PLAN: [
        "Let me first look at option (GOLD)",
        "Let me first look at option GOLD.",
        "I'll start by examining the image. First, let me check option GOLD.",
        "To answer this question, I need to look at GOLD closely.",
        "Okay, let's analyze option GOLD...",
        "让我先看一下选项GOLD。",
        "首先，我需要分析选项GOLD。",
        "让我们一步一步来分析GOLD。",
        "I will now use the zoom tool on GOLD.",
    ],
}
ROWS = [(kind, form) for kind, forms in FORMS.items() for form in forms]


@pytest.mark.parametrize(("kind", "form"), ROWS)
@pytest.mark.parametrize("gold", ["A", "5", "the second image"])
def test_what_was_never_an_answer_has_a_kind(kind, form, gold):
    assert classify_non_answer(form.replace("GOLD", gold)) == kind


SERIES = "Which image continues the series of patterns?"
SHOWN = ("the second image", "the third image")


@pytest.mark.parametrize(
    ("response", "kind"),
    [
        (SERIES, ECHO),
        (f"{SERIES}\n(A) the second image\n(B) the third image", ECHO),
        (
            f"Question: {SERIES}\nOptions:\nA. the second image\nB. the third image\nAnswer:",
            ECHO,
        ),
        (f"{SERIES}\n(A) the second image\n(B) the third image\nAnswer: B", ""),
        (f"{SERIES} the second image", ""),
        (f"{SERIES} It is (B).", ""),
        ("Exception: the penguin", ""),
    ],
)
def test_the_repeated_prompt_is_no_answer(response, kind):
    assert classify_non_answer(response, SERIES, SHOWN) == kind


def scored(task, form, scorer):
    questions = [
        replace(question, question_id=f"t/{n}") for n, question in enumerate(asked_in(task.name))
    ]
    predictions = [
        prediction(
            question_id=question.question_id,
            text=form.replace("GOLD", (question.answer or ("A",))[0].rstrip(".。")),
        )
        for question in questions
    ]
    names = [name for name, judge in task.judges.items() if isinstance(judge, ByModel)]
    judge = ScriptedModel("judge", lambda _: "right") if names else None
    judged = (
        pipeline.judge(task, questions, predictions, judge, names[0] if names else "")
        if names
        else []
    )
    return pipeline.score(task, questions, predictions, judged, scorer)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_no_task_scores_what_was_never_an_answer(task):
    for kind, form in ROWS:
        for scorer in task.scorers:
            for score in scored(task, form, scorer):
                assert not score.points, (form, scorer)
                assert score.no_answer, form
                assert score.note == kind


# Answers that speak of errors, tools, code and objects: no more of them may be flagged than none.
SUBJECTS = (
    *("error", "error message", "KeyError", "traceback", "tool", "tool box", "function", "code"),
    *("JSON file", "JSON object", "exception", "HTTP 404 page", "server rack", "rate limit sign"),
    *("template", "assistant", "API key", "command line", "bug", "stack trace", "warning light"),
    *("system prompt", "user manual", "content filter", "safety policy", "blue screen", "hammer"),
)
SENTENCES = (
    *("The picture shows a SUBJECT.", "There is a SUBJECT on the screen, so the answer is (B)."),
    *("SUBJECT", "A SUBJECT.", "B. a SUBJECT", "The answer is a SUBJECT.", "It is a SUBJECT."),
    *("(B) SUBJECT: it is in the middle.", "No SUBJECT can be seen.", "Answer: SUBJECT"),
    *("The man uses a SUBJECT to repair it. Option B.", "SUBJECT, because the label says so."),
    *("The screen reads 'SUBJECT: 5', therefore B.", '{"answer": "SUBJECT"}', "**SUBJECT**"),
    *("Error: the SUBJECT is upside down, so (B) is correct.", "First, the SUBJECT. Then B."),
    *("I see a SUBJECT and two people.", "The code prints a SUBJECT. The result is 5."),
    *("Let me look at it: the SUBJECT is red. The answer is B.", "图中是SUBJECT，所以选B。"),
    *("The tool in his hand is a SUBJECT.", "`SUBJECT`", "Two SUBJECTs: 2 + 3 = 5."),
    *("Using a tool, he fixes the SUBJECT; the answer is no.", "It raises a SUBJECT. B"),
    *("The system shows an error with the SUBJECT, which means B.", "SUBJECT (B)"),
    *(
        "Function f(x) = 2x describes the SUBJECT; it is B.",
        'In JSON it would be {"B": 1}. SUBJECT.',
    ),
)
ENDS = ("", " I am sure.", "\n\nB")
ORDINARY = [
    sentence.replace("SUBJECT", subject) + end
    for subject, sentence, end in product(SUBJECTS, SENTENCES, ENDS)
]


def test_no_answer_that_speaks_of_errors_tools_or_code_is_flagged():
    assert len(set(ORDINARY)) > 2000
    assert [one for one in ORDINARY if classify_non_answer(one)] == []


@pytest.mark.parametrize(
    "response",
    read_rows(__file__, "ordinary_responses.jsonl"),
)
def test_an_ordinary_response_is_not_flagged(response):
    assert classify_non_answer(response, "Which one is raised?", ("KeyError", "safe")) == ""


def test_twelve_words_after_a_value_of_a_program_are_printed_by_it_too():
    assert (
        classify_non_answer("null one two three four five six seven eight nine ten eleven twelve")
        == ERROR
    )


def test_what_the_question_speaks_of_is_no_sign_of_an_error():
    text = "Which exception does the code raise, KeyError or IndexError?"
    assert classify_non_answer("KeyError: 'a'", text) == ""
    assert classify_non_answer("KeyError: 'a'", question(text="What is it?").text) == ERROR
