"""A benchmark with responses of which rules read only half, and models that read the rest."""

import json
import re
from pathlib import Path

N = 24
QUESTIONS = [
    {
        "id": str(n),
        "question": f"Which animal is on sign {n}?",
        "options": [f"fox number {n}", f"owl number {n}"],
        "answer": "A",
    }
    for n in range(N)
]
UNREAD = [n for n in range(N) if n % 2]
"""Numbers of the questions whose responses no rule reads."""


def response(n: int) -> str:
    """A response to a question: it states A, or means A in other words."""
    if n in UNREAD:
        return (
            f"It is hard to see, but the tail is bushy and red, so I settle on the fox of sign {n}"
        )
    return "There is a sign in the middle of a very green meadow, and it is clear.\nAnswer: A"


def read_well(prompt: str) -> str:
    """Reply A to a response with the fox of the options' sign, Z to others, "yes" to a probe."""
    options, _, response = prompt.partition("Response, between the lines:")
    signs = re.findall(r"\(A\) fox number (\d+)", options)
    if not signs:
        return "yes"
    return "A" if re.search(rf"fox of sign {signs[0]}\n", response) else "Z"


def read_badly(prompt: str) -> str:
    """Reply A for two of five signs, whatever the response, and read the others well."""
    signs = re.findall(r"\(A\) fox number (\d+)", prompt)
    return "A" if signs and int(signs[0]) % 5 < 2 else read_well(prompt)


def write_home(home: Path, further_toml: str = "") -> Path:
    """Write a home with the benchmark, and return the file of its responses."""
    home.mkdir()
    (home / "signs.jsonl").write_text("\n".join(map(json.dumps, QUESTIONS)))
    (home / "bench.toml").write_text(f'[benchmarks.signs]\nfile = "signs.jsonl"\n{further_toml}')
    lines = [{"question_id": f"signs/{n}", "text": response(n), "model": "m"} for n in range(N)]
    (home / "responses.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return home / "responses.jsonl"
