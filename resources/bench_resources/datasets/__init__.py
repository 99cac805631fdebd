"""Downloads of released data sets, and locations of sources."""
