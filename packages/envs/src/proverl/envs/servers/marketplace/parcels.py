"""Tracking codes: each carrier's has a form of its own, so that the code tells the carrier."""

import re

_FORMS = {
    "PostNL": re.compile(r"3S[A-Z]{4}[0-9]{9}", re.ASCII),
    "bpost": re.compile(r"3232[0-9]{20}", re.ASCII),
    "DPD": re.compile(r"0[0-9]{13}", re.ASCII),
    "UPS": re.compile(r"1Z[0-9A-Z]{16}", re.ASCII),
}
EXPLAINED = (
    "PostNL codes are 3S, four letters and nine digits, bpost codes 24 digits from 3232, "
    "DPD codes 14 digits from 0, UPS codes 1Z and 16 letters or digits"
)


def carrier_of(tracking_code: str) -> str | None:
    """The carrier whose code this is, or None."""
    return next((name for name, form in _FORMS.items() if form.fullmatch(tracking_code)), None)
