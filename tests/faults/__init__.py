"""What can go wrong outside of us, done on purpose: servers, disks, kills, hostile files.

A fault is a row (``table.Fault``): its name, how it is made, what must be seen, and a function
that does it and says what was seen. ``make check`` tries some of those that are ``short``, with one
seed; ``make faults`` tries all of them, and those that are drawn again and again with new seeds,
until its time is over.

    table.py                   the row, and how one is tried
    everything.py              all rows
    __main__.py                ``make faults``
    servers/                   a server that misbehaves on demand, and the healed oracle
    homes.py leaks.py          one small home folder, and the key that is searched for in it
    finished.py processes.py   that folder when it is finished; ``bench`` as a process of its own
    kills.py disks.py          kill -9 at random moments; damaged, full and read-only disks
    inputs.py machine.py       what people hand over; what machines, colleagues and programs do
    people.py accounts.py      how people name files and folders, and two users of one home
    readers/                   every reader of foreign text and bytes, fuzzed
"""
