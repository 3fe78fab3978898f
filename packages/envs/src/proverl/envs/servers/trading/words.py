"""Words: the listed shares and funds, names of watchlists, what clients note on an alert."""

# symbol, name, exchange, sector, usual price in EUR
STOCKS = (
    ("ASML", "ASML Holding", "Euronext", "technology", 690), ("ADYEN", "Adyen", "Euronext", "financials", 1420),
    ("INGA", "ING Groep", "Euronext", "financials", 16.4), ("HEIA", "Heineken", "Euronext", "consumer", 82),
    ("PHIA", "Philips", "Euronext", "health_care", 25.1), ("PRX", "Prosus", "Euronext", "technology", 38.6),
    ("AD", "Ahold Delhaize", "Euronext", "consumer", 31.8), ("KPN", "KPN", "Euronext", "telecoms", 3.7),
    ("ABI", "AB InBev", "Euronext", "consumer", 55.2), ("KBC", "KBC Groep", "Euronext", "financials", 71.5),
    ("UCB", "UCB", "Euronext", "health_care", 158), ("MC", "LVMH Moët Hennessy", "Euronext", "consumer", 640),
    ("OR", "L'Oréal", "Euronext", "consumer", 372), ("AIR", "Airbus", "Euronext", "industrials", 148),
    ("BNP", "BNP Paribas", "Euronext", "financials", 62.3), ("TTE", "TotalEnergies", "Euronext", "energy", 58.9),
    ("SU", "Schneider Electric", "Euronext", "industrials", 226), ("SAN", "Sanofi", "Euronext", "health_care", 92.4),
    ("DG", "Vinci", "Euronext", "industrials", 104), ("BN", "Danone", "Euronext", "consumer", 64.8),
    ("ORA", "Orange", "Euronext", "telecoms", 10.2), ("EDP", "EDP Energias de Portugal", "Euronext", "energy", 3.6),
    ("GALP", "Galp Energia", "Euronext", "energy", 16.1),
    ("SAP", "SAP", "Xetra", "technology", 205), ("SIE", "Siemens", "Xetra", "industrials", 178),
    ("ALV", "Allianz", "Xetra", "financials", 282), ("DTE", "Deutsche Telekom", "Xetra", "telecoms", 27.4),
    ("BMW", "BMW", "Xetra", "consumer", 80.4), ("BMW3", "BMW", "Xetra", "consumer", 75.1),
    ("VOW", "Volkswagen", "Xetra", "consumer", 101), ("VOW3", "Volkswagen", "Xetra", "consumer", 96.2),
    ("MBG", "Mercedes-Benz Group", "Xetra", "consumer", 59.3), ("BAS", "BASF", "Xetra", "industrials", 47.2),
    ("BAYN", "Bayer", "Xetra", "health_care", 27.9), ("ADS", "adidas", "Xetra", "consumer", 221),
    ("IFX", "Infineon Technologies", "Xetra", "technology", 32.6),
    ("MUV2", "Münchener Rück", "Xetra", "financials", 468),
    ("RWE", "RWE", "Xetra", "energy", 31.4), ("DHL", "DHL Group", "Xetra", "industrials", 37.8),
    ("ZAL", "Zalando", "Xetra", "consumer", 28.7), ("HNR1", "Hannover Rück", "Xetra", "financials", 254),
    ("AAPL", "Apple", "Nasdaq", "technology", 204), ("MSFT", "Microsoft", "Nasdaq", "technology", 392),
    ("NVDA", "NVIDIA", "Nasdaq", "technology", 121), ("AMZN", "Amazon.com", "Nasdaq", "consumer", 178),
    ("GOOGL", "Alphabet", "Nasdaq", "technology", 158), ("GOOG", "Alphabet", "Nasdaq", "technology", 159),
    ("NFLX", "Netflix", "Nasdaq", "consumer", 642), ("COST", "Costco Wholesale", "Nasdaq", "consumer", 815),
    ("JPM", "JPMorgan Chase", "NYSE", "financials", 207), ("KO", "Coca-Cola", "NYSE", "consumer", 61.7),
    ("DIS", "Walt Disney", "NYSE", "consumer", 92.5), ("V", "Visa", "NYSE", "financials", 268),
    ("PFE", "Pfizer", "NYSE", "health_care", 26.2), ("XOM", "Exxon Mobil", "NYSE", "energy", 107),
    ("VWCE", "Vanguard FTSE All-World ETF", "Xetra", "funds", 126),
    ("EUNL", "iShares Core MSCI World ETF", "Xetra", "funds", 98.3),
    ("EXS1", "iShares Core DAX ETF", "Xetra", "funds", 154),
    ("IEMA", "iShares MSCI EM ETF", "Euronext", "funds", 41.9),
    ("VAGF", "Vanguard Global Aggregate Bond ETF", "Xetra", "funds", 23.4),
)  # fmt: skip
COMPLEX_STOCKS = (
    ("LQQ", "Amundi Nasdaq-100 Daily 2x Leveraged ETF", "Euronext", "funds", 188),
    ("LEVX", "Daily 3x Long DAX ETP", "Xetra", "funds", 64.2),
    ("SHTX", "Daily 2x Short Euro Stoxx 50 ETP", "Xetra", "funds", 7.85),
)
SUSPENDED_STOCKS = (
    ("NLS", "Nordlicht Solar", "Xetra", "energy", 4.35),
    ("VDM", "Van der Meulen Groep", "Euronext", "industrials", 18.9),
)  # fmt: skip
DELISTED_STOCKS = (
    ("HBX", "Helix Biopharma", "Euronext", "health_care", 12.6),
    ("KWT", "Kraftwerk Turbinen", "Xetra", "industrials", 33.1),
)  # fmt: skip
LIMITS = (
    12.5,
    15.8,
    18,
    22.4,
    26.9,
    31,
    36.5,
    45,
    52.75,
    60,
    74.2,
    88,
    96.4,
    118,
    145.5,
    180,
    205,
    260.4,
)  # EUR, on tick
SEARCHES = (
    "ASML", "Siemens", "Volkswagen", "Alphabet", "Apple", "ETF", "Philips", "Allianz", "BMW", "Heineken", "Visa",
    "KBC", "Group", "Energia", "Leveraged", "Airbus",
)  # fmt: skip
WATCHLISTS = (  # name and, where it says so, the sector
    ("Dividend payers", None), ("Tech", "technology"), ("Energy", "energy"), ("To buy on a dip", None),
    ("Banks & insurers", "financials"), ("Long term", None), ("Earnings this month", None), ("Ideas", None),
    ("Old favourites", None), ("Überflieger", None), ("Défensives", "consumer"), ("Funds", "funds"),
    ("Pharma", "health_care"), ("Ask again next quarter", None),
)  # fmt: skip
ALERT_NOTES = (
    "Take profit here", "Good price to buy more", "Talk to the client first", "Before the earnings call",
    "Stop thinking, start selling", "Cheap enough for the pension", "Back to where we bought it", "Half the position",
    "Switch into the ETF", "Ask Łukasz about this one", "All-time high", "Call me before lunch",
)  # fmt: skip
