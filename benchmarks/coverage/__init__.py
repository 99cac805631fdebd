"""Whether statistics keep what they promise, tried on populations whose truth is known."""
