"""Maintenance of a home: verification, migration, removal, disk usage, downloads."""
