"""Validators: judges of finished texts that are stricter than a constraint can be.

    from tokamata import validators

    class Stay(BaseModel):
        begin: int
        end: int

        @model_validator(mode="after")
        def in_order(self): ...             # raises ValueError

    tk.generate(..., tk.type(Stay), validators=[validators.pydantic(Stay)], policy=tk.Policy())

A function is a validator too: it gets the value of the text, and refuses by a ``ValueError`` or
``AssertionError``, or by returning ``False``.

A text that a validator refuses is written again, with the reason in the prompt, as often as ``retries`` says
(:func:`tokamata.generate`).  Then it is repaired, or the call abstains (:class:`tokamata.Policy`); without a
policy it raises :class:`tokamata.RefusedError`.
"""

from tokamata.validators.graphs import shacl
from tokamata.validators.schemas import json_schema, marshmallow, pydantic
from tokamata.validators.validator import Validator

__all__ = ["Validator", "json_schema", "marshmallow", "pydantic", "shacl"]
