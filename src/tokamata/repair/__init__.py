"""The nearest text that a constraint accepts: costs of edits, results, certificates.

``core/repair/search.hpp`` has the search.
"""
