"""The record of behaviour: what the house gives for requests of every kind, as digests.

`record.json` has a line for each case: for a release the digest of its data, its
guarantee, its statement, its manifest and its notes; likewise for what is advised, measured,
refused and shown on the command line. `make test-record` holds the house to it, and names the
cases that differ. The record of reproduced papers (`papers/tests/record_papers.py`) is kept in
the same way.

A commit that moves code changes no line of the record. A change on purpose is recorded in the
commit that makes it:

1. the failing test names the cases that differ, and writes their texts to a folder;
2. `make record TEXTS=FOLDER` at the commit before writes them as they were: read the
   difference, and make sure that it is all meant;
3. `make record` writes the record anew; the diff of the record shows the cases, and the
   commit's message says why they changed.

A digest is the first 16 digits of a SHA-256, of numbers to 12 significant digits. Times and
versions of software are left out. The versions of libraries whose own texts and random numbers
enter are stored beside the cases: if these differ, so may the record, through no change of ours.

A new case goes into the module of its section; a new section into `sections`.
"""
