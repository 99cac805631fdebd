"""The HTML report of a home folder."""
