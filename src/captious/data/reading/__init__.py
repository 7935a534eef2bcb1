"""Reading captions from files and Python objects: formats, layouts of published data sets, fields, rows, and problems.

``readers.read_rows`` accepts every form and calls the rest.
"""
