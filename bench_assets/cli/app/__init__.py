"""What all commands share: opening a home, error messages, options, completion, templates."""
