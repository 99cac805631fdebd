"""The stages of training: told, shown, asked.

From nothing, a model that is only asked about images stays at chance for a long time: it has to
find out at once what is in an image, what words mean, and how to answer. So it is first told what
lies in each cell and asked about that; then its eyes are taught to say the same of images; only
then is it asked about images as a whole. A model that has learned one world learns others in the
same three stages.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from examples.tiny_vlm.batches import Lesson, Writer, pixels
from examples.tiny_vlm.model import CELLS, EMBEDDING_SPREAD, WIDTH

Batches: TypeAlias = Iterator[Sequence[Lesson]]
Log: TypeAlias = Callable[[str, int, float], None]  # stage, step, loss
After: TypeAlias = Callable[[int], None]  # called with the number of steps done

_RATE = 1.5e-3
_LAST_RATE = 0.04  # share of the rate that is left in the end
_WARM_UP = 60  # steps
_EYES = {"vision_tower": 1.0, "linear_1": 1.0, "linear_2": 0.1}
"""Shares of the rate. The last layer makes vectors as small as words: a full step would be as long
as what it is to learn."""

_SLOWLY = 0.2  # share of the rate at which all learn together
_FILLED = 8.0  # weight of a cell with words; an empty one has 1
_FEW = 6  # filled cells of an image; those of one with more weigh less
_LOGGED = 25  # steps between two lines of the log


class Course:
    """A model on its way."""

    def __init__(self, model: Any, tokenizer: Any, log: Log) -> None:  # noqa: ANN401
        """Start with a model of random weights."""
        import torch

        self._model, self._writer, self._log = model, Writer(tokenizer), log
        # Left behind in the end: the eyes have learned to say it all.
        self._namer = torch.nn.Linear(WIDTH, len(tokenizer))
        self._places = torch.nn.Parameter(EMBEDDING_SPREAD * torch.randn(2, CELLS, WIDTH))
        self._settled: tuple[Any, Any] | None = None

    def settle(self, lessons: Sequence[Lesson]) -> None:
        """Take what the eyes make of empty cells, and the words as they are, as what to see.

        Both stay while a trained model learns more; else eyes and words would run after each other.
        """
        import torch

        with torch.no_grad():
            _, seen = self._seen(lessons)
        words = self._model.get_input_embeddings().weight.detach().clone()
        self._settled = (seen.median(0).values, words)

    def tell(self, batches: Batches, steps: int) -> None:
        """Teach the language model to answer from cells of words, without an image."""
        self._study("told", {"language_model": 1.0}, self._loss_told, batches, steps)

    def show(self, batches: Batches, steps: int, after: After) -> None:
        """Teach the eyes to make the same cells of an image, the language model being done."""
        self._study("shown", _EYES, self._loss_shown, batches, steps, after)

    def ask(self, batches: Batches, steps: int, after: After) -> None:
        """Teach the whole model to answer questions about images.

        Slowly: a language model that answers right from cells has more to forget than to learn.
        """
        whole = {"language_model": 1.0, **_EYES}
        slowly = {part: _SLOWLY * share for part, share in whole.items()}
        self._study("asked", slowly, self._loss_asked, batches, steps, after)

    def length(self, lesson: Lesson) -> int:
        """Count the tokens of a lesson."""
        return self._writer.length(lesson)

    def _loss_told(self, lessons: Sequence[Lesson]) -> Any:  # noqa: ANN401
        talk = self._writer.conversations(lessons)
        embedded = self._model.get_input_embeddings()(talk["input_ids"])
        is_image = (talk["input_ids"] == self._writer.image)[..., None]
        told = self._told(lessons).to(embedded.dtype)
        seen = {"inputs_embeds": embedded.masked_scatter(is_image, told)}
        return self._loss_of_responses(talk, seen)

    def _loss_shown(self, lessons: Sequence[Lesson]) -> Any:  # noqa: ANN401
        """Off by how much, and how surprised by the words of a cell, which is sooner learned."""
        told, words = self._told(lessons).detach(), self._writer.cells(lessons)
        patches, seen = self._seen(lessons)
        filled = words[..., 0] != self._writer.image
        crowd = filled.sum(1, keepdim=True).clamp(min=_FEW) / _FEW
        named = (words > 0) & filled[..., None]
        surprise = -self._namer(patches).float().log_softmax(-1).gather(-1, words)
        surprise = (surprise * named).sum(-1) / named.sum(-1).clamp(min=1)
        off = ((seen - told) ** 2).mean(-1) / told.var()
        weight = filled / crowd.sqrt()
        weighed = (off * (1 + (_FILLED - 1) * weight)).sum() / (1 + (_FILLED - 1) * weight).sum()
        return weighed + (surprise * weight).sum() / weight.sum()

    def _seen(self, lessons: Sequence[Lesson]) -> tuple[Any, Any]:
        """What the eyes make of each patch, and what the language model reads of it."""
        tower = self._model.model.vision_tower(pixels(lessons))
        patches = tower.last_hidden_state[:, 1:]  # without the one for the image as a whole
        return patches, self._model.model.multi_modal_projector(patches).float()

    def _loss_asked(self, lessons: Sequence[Lesson]) -> Any:  # noqa: ANN401
        if not any(lesson.images for lesson in lessons):
            return self._loss_told(lessons)
        talk = self._writer.conversations(lessons)
        seen = {"input_ids": talk["input_ids"], "pixel_values": pixels(lessons)}
        return self._loss_of_responses(talk, seen)

    def _told(self, lessons: Sequence[Lesson]) -> Any:  # noqa: ANN401
        """What stands for an image: for each cell, the sum of its words, its row and its column.

        To say what is left of what, a model would else have to learn to divide the number of a
        cell by the length of a row.
        """
        words = self._writer.cells(lessons)
        if self._settled:
            empty, settled = self._settled
            known = words.masked_fill(words == self._writer.image, 0)
            return empty + (settled[known] * (known > 0)[..., None]).sum(2)
        embedded = self._model.get_input_embeddings()(words) * (words > 0)[..., None]
        rows, columns = self._places
        return embedded.sum(2) + (rows[:, None] + columns[None, :]).flatten(0, 1)

    def _loss_of_responses(self, talk: Mapping[str, Any], seen: Mapping[str, Any]) -> Any:  # noqa: ANN401
        from torch.nn.functional import cross_entropy

        out = self._model.model(**seen, attention_mask=talk["attention_mask"])
        wanted = talk["labels"][:, 1:]
        here = wanted >= 0  # what the other tokens would be is never computed
        said = self._model.lm_head(out.last_hidden_state[:, :-1][here])
        return cross_entropy(said.float(), wanted[here])

    def _study(
        self,
        stage: str,
        shares: Mapping[str, float],
        loss_of: Callable[[Sequence[Lesson]], Any],
        batches: Batches,
        steps: int,
        after: After = lambda step: None,
    ) -> None:
        import torch

        groups: list[dict[str, Any]] = [
            {"params": list(values), "share": share} for values, share in self._learned(shares)
        ]
        learned = [value for group in groups for value in group["params"]]
        optimiser = torch.optim.AdamW(groups, weight_decay=0.05, betas=(0.9, 0.98))
        losses: list[float] = []
        for step in range(1, steps + 1):
            for group in optimiser.param_groups:
                group["lr"] = group["share"] * _rate(step, steps)
            with torch.autocast("cpu", torch.bfloat16):
                loss = loss_of(next(batches))
            loss.backward()
            torch.nn.utils.clip_grad_norm_(learned, 1.0)
            optimiser.step()
            optimiser.zero_grad()
            losses.append(loss.item())
            if step % _LOGGED == 0 or step == steps:
                last = losses[-_LOGGED:]
                self._log(stage, step, sum(last) / len(last))
            after(step)

    def _learned(self, shares: Mapping[str, float]) -> Iterator[tuple[list[Any], float]]:
        """What learns at which share of the rate, told by parts of the names of parameters."""
        named = dict(self._model.named_parameters())
        for part, share in shares.items():
            yield [value for name, value in named.items() if part in name], share
        yield [*self._namer.parameters(), self._places], 1.0


def _rate(step: int, steps: int) -> float:
    """Rise in a straight line, then fall along half a cosine."""
    fall = (1 + math.cos(math.pi * step / steps)) / 2
    return _RATE * min(1, step / _WARM_UP) * (_LAST_RATE + (1 - _LAST_RATE) * fall)
