"""The report's folder: files, scripts, addresses, images and static assets."""
