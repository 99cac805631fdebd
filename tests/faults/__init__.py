"""Faults of the outside world, caused on purpose: servers, disks, kills, hostile files.

A fault is a row (``table.Fault``): its name, cause and expected effect, and a function that causes
it and checks the effect. ``make check`` tries some of those that are ``short``, with one seed;
``make faults`` tries all of them, and the random ones again and again with new seeds, until its
time is over.

    table.py                   the row, and the trial of one
    everything.py              all rows
    __main__.py                ``make faults``
    servers/                   a server that misbehaves on demand, and the checks after it is healed
    homes.py leaks.py          one small home folder, and the key that is searched for in it
    finished.py processes.py   that folder when it is finished; ``bench`` in a new process
    kills.py disks.py          kill -9 at random moments; damaged, full and read-only disks
    inputs.py machine.py       inputs of people; faults of machines and of other programs
    people.py accounts.py      names of files and folders, and two users of one home
    readers/                   every reader of foreign text and bytes, fuzzed
"""
