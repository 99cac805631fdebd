"""Rows as Arrow tables, strict JSON readers, table expectations, tables larger than memory."""

import os

# Before pyarrow is imported: its own pool keeps what it once held, a seventh of a command's memory.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
