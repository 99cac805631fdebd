"""From lessons to tensors: tokens, labels, cells of words, and images."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from examples.tiny_vlm.lessons import Asked
from examples.tiny_vlm.model import CELLS, SIDE
from examples.tiny_vlm.views import Cells, View

_WORDS_A_CELL = 8
_IGNORED = -100  # a label that costs nothing


@dataclass(frozen=True, slots=True)
class Lesson:
    """Images and what is asked about them."""

    images: Sequence[NDArray[np.uint8]]  # SIDE x SIDE x RGB; empty for a view that was never drawn
    cells: Sequence[Cells]  # of each image; empty if nobody knows what lies where
    talk: Sequence[Asked]


class Writer:
    """Writes lessons as a checkpoint will read them."""

    def __init__(self, tokenizer: Any) -> None:  # noqa: ANN401
        self._tokenizer = tokenizer
        self.image: int = tokenizer.convert_tokens_to_ids("<image>")
        self._ids = lru_cache(maxsize=200_000)(self._encode)

    def conversations(self, lessons: Sequence[Lesson]) -> dict[str, Any]:
        """Token ids, attention mask and labels, each batch x length; only responses have labels."""
        import torch

        rows = [self._conversation(lesson) for lesson in lessons]
        shape = len(rows), max(len(tokens) for tokens, _ in rows)
        ids, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        labels = np.full(shape, _IGNORED)
        for row, (tokens, wanted) in enumerate(rows):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
            labels[row, : len(tokens)] = wanted
        named = {"input_ids": ids, "attention_mask": mask, "labels": labels}
        return {name: torch.from_numpy(values) for name, values in named.items()}

    def cells(self, lessons: Sequence[Lesson]) -> Any:  # noqa: ANN401
        """The words of each cell as token ids, images x cells x words, filled up with 0.

        An empty cell has the token of an image. It cannot have nothing: the language model scales
        what it reads to one length, and the little that eyes see in an empty cell would be loud.
        """
        import torch

        images = [cells for lesson in lessons for cells in lesson.cells]
        words = np.zeros((len(images), CELLS**2, _WORDS_A_CELL), np.int64)
        words[..., 0] = self.image
        for row, cells in enumerate(images):
            for cell, texts in cells.items():
                tokens = [token for text in texts for token in self._ids(f" {text}")]
                tokens = tokens[:_WORDS_A_CELL]
                words[row, cell, : len(tokens)] = tokens
        return torch.from_numpy(words)

    def length(self, lesson: Lesson) -> int:
        """Count the tokens of a lesson."""
        return len(self._conversation(lesson)[0])

    def _conversation(self, lesson: Lesson) -> tuple[list[int], list[int]]:
        tokens: list[int] = []
        labels: list[int] = []
        n_images = max(len(lesson.images), len(lesson.cells))
        for number, asked in enumerate(lesson.talk):
            opening = [
                *self._ids("<|im_start|>user\n"),
                *[self.image] * CELLS**2 * n_images * (number == 0),
            ]
            question = [*self._ids(asked.prompt), *self._ids("<|im_end|>\n<|im_start|>assistant\n")]
            response = [*self._ids(asked.response), *self._ids("<|im_end|>")]
            end = self._ids("\n")
            tokens += [*opening, *question, *response, *end]
            labels += [_IGNORED] * (len(opening) + len(question)) + response + [_IGNORED] * len(end)
        return tokens, labels

    def _encode(self, text: str) -> tuple[int, ...]:
        return tuple(self._tokenizer.encode(text, add_special_tokens=False))


def untaken(view: View) -> Lesson:
    """Make a lesson of a view without drawing it, to be told only."""
    return Lesson((), view.cells, view.talk)


def pixels(lessons: Sequence[Lesson]) -> Any:  # noqa: ANN401
    """The images as the processor gives them: images x 3 x SIDE x SIDE, from -1 to 1."""
    import torch

    images = [image for lesson in lessons for image in lesson.images]
    stacked = np.stack(images).transpose(0, 3, 1, 2)
    return torch.from_numpy(stacked.astype(np.float32) / 127.5 - 1)


def squeezed(image: Image.Image) -> NDArray[np.uint8]:
    """Squeeze an image into the square that the model sees, as the processor does."""
    return np.asarray(image.resize((SIDE, SIDE), Image.Resampling.BICUBIC))
