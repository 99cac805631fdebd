"""In which order requests are asked, and which together."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace

from bench_assets.core.chat import Request
from resources.settings.local_specs import LocalSpec


def as_asked(request: Request, spec: LocalSpec) -> Request:
    """Put the configured temperature where there is none; drop pictures nobody can see."""
    prompt = request.prompt.without_images() if spec.text_only else request.prompt
    temperature = spec.temperature if request.temperature is None else request.temperature
    return replace(request, prompt=prompt, temperature=temperature)


def in_order(asked: Sequence[Request]) -> list[int]:
    """Positions of requests in the order to ask them: group by group, longest first."""
    return sorted(range(len(asked)), key=lambda i: _rank(asked[i]), reverse=True)


def _group(request: Request) -> tuple[float, int, int]:
    prompt = request.prompt
    return request.temperature or 0.0, len(prompt.rounds()), len(prompt.images)


def _rank(request: Request) -> tuple[float, int, int, int]:
    return *_group(request), len(request.prompt.to_json())


def take_group(pending: deque[int], asked: Sequence[Request], size: int) -> Iterator[int]:
    """Take up to ``size`` of the first requests, all of one group."""
    group = _group(asked[pending[0]])
    while pending and size and _group(asked[pending[0]]) == group:
        size -= 1
        yield pending.popleft()
