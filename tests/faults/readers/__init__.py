"""Every reader of foreign text and bytes, which must return or raise a ``BenchError``.

``texts``, ``files``, ``raw_data`` and ``answers`` list them; ``hostile`` draws their inputs;
``fuzzing`` makes faults of both.
"""
