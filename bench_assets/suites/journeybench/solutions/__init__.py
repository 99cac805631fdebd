"""Solution verification, of the tasks that have solutions (section 4.1)."""
