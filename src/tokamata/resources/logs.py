"""The logger ``tokamata`` of the standard library, which is silent unless the program gives it a handler.

    import logging

    logging.basicConfig()
    logging.getLogger("tokamata").setLevel(logging.DEBUG)

========= ============================================================================================
level     what
========= ============================================================================================
WARNING   a file of the cache, or the masks in a saved file, cannot be used and are computed again
INFO      a fallback: a part of a text that the model did not draw; a cache that cannot be written
DEBUG     times: reading a vocabulary, reading a grammar, compiling, preparing masks, writing a text
========= ============================================================================================

Messages are formatted only where a handler takes them.  Warnings (:mod:`warnings`) are not repeated here:
``logging.captureWarnings(True)`` sends these to the logger ``py.warnings``.
"""

from __future__ import annotations

import logging

__all__ = ["LOG"]

LOG = logging.getLogger("tokamata")
LOG.addHandler(logging.NullHandler())
