"""Downloads of released data sets, and where sources lie."""
