"""Options, completion, scaffolding and error reporting that all commands share."""
