"""Whether a benchmark measures what it says: examined from the tables that are there."""
