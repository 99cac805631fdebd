"""Every reader of foreign text and bytes, and what may come out: an answer, or a ``BenchError``.

``reader`` is the row; ``texts``, ``files``, ``raw_data`` and ``answers`` list them; ``hostile``
makes what they are given; ``fuzzing`` makes faults of it.
"""
