"""A server that misbehaves on demand, and what must come of it.

``responses``, ``transport`` and ``echoes`` are its misbehaviours; ``healing`` tries them.
"""
