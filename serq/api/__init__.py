"""serQ for programs in Python: a loaded program with a method for each question, and the answers as data.

The command line stands on this package: both read a file, ask, and describe an answer in one and the same way.
"""
