"""Pages in a browser.

A package, so that its fixtures end with its tests: while Playwright runs, Django cannot be used in this process.
"""
