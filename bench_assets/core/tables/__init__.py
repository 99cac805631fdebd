"""Rows as Arrow tables, strict JSON readers, table expectations, tables larger than memory."""
