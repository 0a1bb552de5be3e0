"""Main program of the subprocess that evaluates rules for language models.

Started as `python -m herbrand.oracle.worker MEGABYTES`.
"""

from __future__ import annotations

from herbrand.oracle.tools import Tools
from herbrand.web.worker import serve_actions

if __name__ == "__main__":
    serve_actions(Tools())
