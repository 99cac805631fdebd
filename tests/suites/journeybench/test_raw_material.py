import json

from bench_assets.suites.journeybench.raw_material import unused_rows


def test_a_vote_on_an_unknown_image_and_an_earlier_vote_are_rejected(tmp_path):
    image = {"image": "a.png", "query": "q", "prompt": "p"}
    vote = {"image": "a.png", "writer": "w", "verifier": "v", "accepts": True}
    votes = [vote, vote | {"image": "b.png"}, vote | {"accepts": False}]
    (tmp_path / "gallery.jsonl").write_text(json.dumps(image))
    (tmp_path / "caption_votes.jsonl").write_text("\n".join(map(json.dumps, votes)))
    assert [(row.entry, row.reason) for row in unused_rows(tmp_path)] == [
        ("caption_votes.jsonl, a.png, w, v", "given again; the last counts"),
        ("caption_votes.jsonl, b.png, w, v", "unknown image 'b.png'"),
    ]
