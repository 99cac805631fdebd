"""What assets need from outside: settings, tables, images, models and their replies."""
