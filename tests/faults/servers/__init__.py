"""A server that misbehaves on demand, and what must come of it.

``replies``, ``transport`` and ``echoes`` are its misbehaviours; ``healing`` tries them.
"""
