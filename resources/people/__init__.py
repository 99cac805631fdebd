"""In what people answer: files, pages of the project's own, a Label Studio."""
