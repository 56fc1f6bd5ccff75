"""Errors of the promotion states: what no decision stands behind is not written."""

from __future__ import annotations

from lakeguard_sdk.errors import Refused


class PromotionRefused(Refused):
    """Only a decision that allowed it, and that nothing came of yet, promotes a dataset."""

    code = "LG-3010"
    what = "{dataset} cannot become {after} after {before} by the {step} of decision {decision}"
    next_command = "lakeguard why {run}"
