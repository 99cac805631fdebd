"""Terminal output, progress bars, signals and the process watchdog."""
