"""Pictures: where they are kept, where they come from, how they are shown."""
