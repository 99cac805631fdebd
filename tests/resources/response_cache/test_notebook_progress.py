"""Progress bars of a notebook, without one."""

from bench_resources.response_cache.notebook_progress import NotebookProgress


def test_a_removed_bar_is_not_drawn():
    bars = NotebookProgress()
    bars.add_task("codis", total=4)
    line = bars.add_task("random")
    assert bars._html().count("<progress") == 2
    bars.remove_task(line)
    bars.stop()
    assert bars._html() == '<div>codis <progress value="0" max="4"></progress> 0/4</div>'
