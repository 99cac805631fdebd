"""Raw folders with one valid entry for each builder, and readers of what the builders return."""

import csv
import io
import json
import pickle
from math import cos, radians, sin
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from bench_assets.core.schema.rows import Rejection
from bench_assets.suites.blink.builders.drafts import Draft


def write_image(path, size=(400, 300), colour=(90, 120, 90)):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, colour).save(path)
    return path


def write_speckled_image(path, seed, size=(400, 300)):
    """An image that looks like no other: coarse blocks of random grey."""
    blocks = np.random.default_rng(seed).integers(0, 256, (6, 8), dtype=np.uint8)
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(blocks).resize(size, Image.Resampling.NEAREST).convert("RGB").save(path)
    return path


def write_text(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def write_json(path, content):
    write_text(path, json.dumps(content))


def write_lines(path, rows):
    write_text(path, "".join(json.dumps(row) + "\n" for row in rows))


def write_csv(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with Path(path).open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def drafts(candidates):
    return [candidate for candidate in candidates if isinstance(candidate, Draft)]


def rejection_reasons(candidates):
    return [candidate.reason for candidate in candidates if isinstance(candidate, Rejection)]


def decode_image(data):
    """Decode an image that a question shows."""
    with Image.open(io.BytesIO(data)) as image:
        return image.convert("RGB")


def write_wikiart(folder, **styles):
    for style, n in styles.items():
        for nth in range(n):
            write_image(folder / style / f"{nth}.jpg")
    return folder


def write_nights(folder, **fields):
    row = {
        "id": 5, "left_vote": 1.0, "right_vote": 0.0, "votes": 7,
        "ref_path": "ref/5.png", "left_path": "distort/5_0.png", "right_path": "distort/5_1.png",
    } | fields  # fmt: skip
    for nth, role in enumerate(("ref", "left", "right")):
        write_image(folder / row[f"{role}_path"], colour=(nth, nth, nth))
    write_csv(folder / "data.csv", [row])
    return folder


def write_forensics(folder, **fields):
    names = ["real/a.png", "generated/a1.png", "generated/a2.png", "generated/a3.png"]
    for nth, name in enumerate(names):
        write_image(folder / name, colour=(nth, nth, nth))
    row = {"id": "a", "caption": "a red bus", "real": names[0], "generated": names[1:]} | fields
    write_lines(folder / "captions.jsonl", [row])
    return folder


def write_tallyqa(folder, **fields):
    write_image(folder / "VG_100K" / "1.jpg")
    row = {
        "image": "VG_100K/1.jpg",
        "question": "How many giraffes are sitting?",
        "answer": 2,
        "question_id": 31,
        "issimple": False,
    } | fields
    write_json(folder / "test.json", [row])
    return folder


def write_puzzles(folder, **fields):
    write_image(folder / "images" / "p.png")
    row = {"id": "p", "image": "images/p.png", "answer": "C", "explanation": "It turns."} | fields
    write_lines(folder / "puzzles.jsonl", [row])
    return folder


def write_vsr(folder, **fields):
    write_image(folder / "images" / "1.jpg")
    row = {
        "image": "1.jpg",
        "caption": "The cow is ahead of the person.",
        "label": 0,
        "vote_true_validator_id": [],
        "vote_false_validator_id": [2, 6],
    } | fields
    write_lines(folder / "all_vsr_validated_data.jsonl", [row])
    return folder


def write_diw(folder, line="101,51,201,351,<,400,512", name="./DIW_test/a.thumb"):
    """By default point A lies at row 100, column 50 (from 0), and is closer."""
    write_image(folder / "DIW_test" / "a.png", (400, 512)).rename(folder / "DIW_test" / "a.thumb")
    write_text(folder / "DIW_test.csv", f"{name}\n{line}\n")
    return folder


def write_iiw(folder, *, name="101", opaque=True, **comparison):
    write_image(folder / "data" / f"{name}.png", (512, 512), (80, 80, 80))
    points = [
        {"id": 7, "x": 0.25, "y": 0.5, "opaque": True},
        {"id": 8, "x": 0.75, "y": 0.5, "opaque": opaque},
    ]
    judgement = {"point1": 7, "point2": 8, "darker": "1", "darker_score": 1.0} | comparison
    content = {"intrinsic_points": points, "intrinsic_comparisons": [judgement]}
    write_json(folder / "data" / f"{name}.json", content)
    return folder


FIRST_POINTS = [[20, 20], [120, 20], [20, 120], [120, 120], [64, 200]]
SECOND_POINTS = [[30, 60], [180, 60], [30, 160], [180, 160], [100, 230]]
TOOLS = {"hammer": FIRST_POINTS, "pot": SECOND_POINTS}  # px of images of 256 x 256 px


def write_tool(folder, name, **fields):
    write_image(folder / f"{name}.jpg", (256, 256))
    return {
        "image": f"{name}.jpg", "object": name, "action": "Mash Pound", "points": TOOLS[name],
    } | fields  # fmt: skip


def write_funkpoint(folder, **fields):
    write_json(
        folder / "annotations.json",
        [write_tool(folder, "hammer"), write_tool(folder, "pot", **fields)],
    )
    return folder


def write_spair(folder, **fields):
    for name in ("a", "b"):
        write_image(folder / "JPEGImages" / "cat" / f"{name}.jpg", (256, 256))
    pair = {
        "src_imname": "a.jpg", "trg_imname": "b.jpg", "category": "cat",
        "src_kps": FIRST_POINTS, "trg_kps": SECOND_POINTS,
    } | fields  # fmt: skip
    write_json(folder / "PairAnnotation" / "test" / "1-a-b:cat.json", pair)
    return folder


def translation_matrix(columns, rows):
    return f"1 0 {columns}\n0 1 {rows}\n0 0 1\n"


def write_squares(path, columns, rows):
    """White squares on black, moved by so many px; each corner of a square is an interest point."""
    path.parent.mkdir(parents=True, exist_ok=True)
    plane = Image.new("RGB", (512, 512))
    pen = ImageDraw.Draw(plane)
    for x, y in ((120, 120), (300, 140), (150, 300), (320, 330)):
        pen.rectangle((x + columns, y + rows, x + columns + 60, y + rows + 60), fill="white")
    plane.save(path)


def camera_pose(*axes, position):
    """Rotation and translation of the object for a camera with axes right, down, forward."""
    rotation = np.array(axes, float)
    return rotation, -rotation @ np.array(position, float)


def pose_around(azimuth, elevation=0.0):
    """Pose for a camera two units away that looks at the object; angles in degrees."""
    a, e = radians(azimuth), radians(elevation)
    position = 2 * np.array([sin(a) * cos(e), sin(e), cos(a) * cos(e)])
    right = np.array([cos(a), 0, -sin(a)])
    forward = -position / 2
    return camera_pose(right, np.cross(forward, right), forward, position=position)


def write_wild6d(folder, poses, category="mug"):
    annotations = []
    for nth, (rotation, translation) in enumerate(poses):
        images = folder / "test_set" / category / "0001/2/images"
        write_image(images / f"{nth:05}.jpg", colour=(nth, nth, nth))
        name = f"{category}/0001/2/{nth:05}"
        annotations.append({"name": name, "rotation": rotation, "translation": translation})
    return write_annotations(folder, {"annotations": annotations}, category)


def write_annotations(folder, content, category="mug"):
    file = folder / "test_set/pkl_annotations" / category / f"{category}-0001-2.pkl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(pickle.dumps(content))
    return folder


BOX = [100, 128, 160, 200]  # left, top, width, height in an image of 400 x 512 px


def write_lvis(folder, *, extra_annotations=(), image_fields=None, **fields):
    write_image(folder / "val2017" / "1.png", (400, 512))
    annotation = {"id": 3, "image_id": 1, "category_id": 2, "bbox": BOX, "area": 25_000} | fields
    address = "http://images.cocodataset.org/val2017/1.png"
    content = {
        "images": [
            {"id": 1, "coco_url": address, "width": 400, "height": 512} | (image_fields or {})
        ],
        "annotations": [annotation, *extra_annotations],
        "categories": [{"id": 2, "name": "teddy_bear"}, {"id": 4, "name": "car_(automobile)"}],
    }
    write_json(folder / "lvis_v1_val.json", content)
    return folder


SHIFTS = {"1": (0, 0), "2": (30, 10), "3": (50, -5)}  # px, of the plane in each image


def write_hpatches(folder, homography=None):
    """Three views of four squares; ``homography`` is written to H_1_2 and H_1_3 if it is given."""
    for number, shift in SHIFTS.items():
        write_squares(folder / "v_squares" / f"{number}.ppm", *shift)
        if number != "1":
            text = translation_matrix(*shift) if homography is None else homography
            write_text(folder / "v_squares" / f"H_1_{number}", text)
    return folder


def write_turning_camera(folder):
    """A video of a camera that goes 30 degrees to its right."""
    return write_wild6d(folder, [pose_around(0), pose_around(30)])


def write_photographs(folder):
    write_speckled_image(folder / "a.png", seed=1)
    return folder
