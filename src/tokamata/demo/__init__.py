"""The model of the demo, which the extra ``demo`` installs: :func:`default_model_folder` is its folder.

    from tokamata.demo import default_model_folder

Nothing else of tokamata imports this package, except the command line where no model is given.
"""

from tokamata.demo.default_model import default_model_folder

__all__ = ["default_model_folder"]
