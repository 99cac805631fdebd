"""Answer types: the gold of a row and the points of a response, as pure functions."""
