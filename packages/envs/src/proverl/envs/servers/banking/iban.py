"""IBANs: their check digits (ISO 13616 / ISO 7064 MOD 97-10)."""

LENGTHS = {"AT": 20, "BE": 16, "DE": 22, "DK": 18, "ES": 24, "FI": 18, "FR": 27, "IE": 22, "IT": 27, "NL": 18, "NO": 15}


def _remainder(country: str, digits: str, account: str) -> int:
    return int("".join(str(int(char, 36)) for char in account + country + digits)) % 97


def is_iban(text: str) -> bool:
    """Whether `text` (capitals, no spaces) is an IBAN of a country in `LENGTHS`: right length, right check digits."""
    right_form = text.isascii() and text.isalnum() and text == text.upper()
    return right_form and LENGTHS.get(text[:2]) == len(text) and _remainder(text[:2], text[2:4], text[4:]) == 1


def make_iban(country: str, account: str) -> str:
    """The IBAN of a domestic account number that has the country's length."""
    return f"{country}{98 - _remainder(country, '00', account):02d}{account}"
