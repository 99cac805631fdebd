"""Specialists: classic computer vision, one method for each of four tasks (section 4.3).

The paper runs trained specialists on eight of the tasks, to show how far a model of the task's own
kind gets. These need no weights. They see what a model sees: pictures in BLINK's form, with their
circles and letters; they are no part of a question's making and know nothing of its answer.
"""
