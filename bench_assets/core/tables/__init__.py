"""Rows as Arrow tables, strict JSON readers, table expectations, tables larger than memory."""

import os

# Before pyarrow is imported: its default pool keeps freed memory, a seventh of a command's.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
