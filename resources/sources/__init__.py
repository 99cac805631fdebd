"""The authors' releases by their own addresses: fetched once, pinned, checked, kept in the home."""
