"""The description task: recognition and cognition scores."""
