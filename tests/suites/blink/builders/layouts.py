"""Writes raw folders for the tests of builders, and looks at what builders made of them."""

import csv
import io
import json
from pathlib import Path

import numpy as np
from PIL import Image

from bench_assets.core.schema.rows import Rejection
from bench_assets.suites.blink.dataset.draft import Draft
from bench_assets.suites.blink.specialists.circle_detection import find_circles, find_lettered


def image(path, size=(400, 300), colour=(90, 120, 90)):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, colour).save(path)
    return path


def speckled(path, seed, size=(400, 300)):
    """An image that looks like no other: coarse blocks of random grey."""
    blocks = np.random.default_rng(seed).integers(0, 256, (6, 8), dtype=np.uint8)
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(blocks).resize(size, Image.Resampling.NEAREST).convert("RGB").save(path)
    return path


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def write_json(path, content):
    write(path, json.dumps(content))


def write_lines(path, entries):
    write(path, "".join(json.dumps(entry) + "\n" for entry in entries))


def write_csv(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with Path(path).open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def drafts(candidates):
    return [candidate for candidate in candidates if isinstance(candidate, Draft)]


def reasons(candidates):
    return [candidate.reason for candidate in candidates if isinstance(candidate, Rejection)]


def seen(data):
    """Decode an image that a question shows."""
    with Image.open(io.BytesIO(data)) as shown:
        return shown.convert("RGB")


def lettered(data, letters, colour="red"):
    """Where the circle of each letter is on an image that a question shows; px."""
    return find_lettered(np.asarray(seen(data)), letters, colour)


def circled(data, colour="red"):
    """Where the one circle is on an image that a question shows; px."""
    (found,) = find_circles(np.asarray(seen(data)), 1, colour)
    return found
