import json
from collections.abc import Mapping
from pathlib import Path

from PIL import Image

HOST = "https://images.example.org"
CELLS = (
    '1. "A cat drives a car." 2. "A cat in 2. gear." 3. "The car has a cat at its wheel."',
    '"A whale flies over a town." "A flying whale."',
)
HALOQUEST = (
    ",image_name,url,image type,hallucination type,question,groundtruth responses,split\n"
    f"0,x.png,{HOST}/cat%20car.png,generated,false premises,Where is a dog?,No dog,eval\n"
    f"1,,{HOST}/whale.png,generated,visual challenge,What flies?,A whale; the whale,eval\n"
)


def write_release(folder: Path) -> Path:
    """Write captions, retrieval tables and HaloQuest's CSV, with all images."""
    (folder / "images").mkdir(parents=True)
    for index, name in enumerate(["cat car", "whale", "dog car", "shark", "moon"]):
        Image.new("RGB", (16, 12), (40 * index, 90, 200)).save(folder / "images" / f"{name}.png")
    cat, whale = f"{HOST}/cat%20car.png", f"{HOST}/whale.png"
    write_lines(
        folder / "unusual_image_caption_generation.jsonl",
        caption_row(cat, CELLS[0], "Unexpected behavior", "odd"),
        caption_row(whale, CELLS[1], "strange scene", ""),
    )
    write_lines(
        folder / "i2t_positive.jsonl",
        {"index": "", "url": cat, "hypothesis": "A cat drives a car."},
        {"index": "", "url": cat, "hypothesis": "A cat at the wheel."},
        {"index": "", "url": whale, "hypothesis": "A flying whale."},
    )
    write_lines(
        folder / "i2t_negative.jsonl",
        {"index": "", "url": cat, "hypothesis": "A dog drives a car."},
        {"index": "", "url": cat, "hypothesis": "A cat drives a car."},
        {"index": "", "url": cat, "hypothesis": ""},
    )
    write_lines(
        folder / "t2i.jsonl",
        {
            "url": cat,
            "captions": CELLS[0],
            "distractor_url": [f"{HOST}/dog%20car.png", cat, f"{HOST}/lost.png"],
            "distractor_image_name": ["a", "b", "c"],
        },
        {"url": whale, "captions": CELLS[1], "distractor_url": [f"{HOST}/shark.png"]},
    )
    (folder / "haloquest-eval.csv").write_text(HALOQUEST, encoding="utf-8")
    return folder


def caption_row(url: str, captions: str, category1: str, category2: str) -> dict[str, str]:
    return {
        "url": url,
        "image_name": "n",
        "Image": "",
        "captions": captions,
        "category1": category1,
        "category2": category2,
    }


def write_lines(file: Path, *rows: Mapping[str, object]) -> None:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
