"""Words: accounts and shops of the start state, and examples of what customers say."""

CHECKING_NAMES = ("Everyday", "Household", "Joint account", "Main", "Bills", "Side business")
SAVINGS_NAMES = (
    "Rainy day", "Holiday fund", "New car", "House deposit", "Emergency fund", "Wedding", "Kids' future",
    "New kitchen", "Taxes", "Bike fund", "Moving costs", "Music studio",
)  # fmt: skip
EMPLOYERS = ("Nordwind Logistics", "Atelier Lumen", "Stad Gent", "Helix Pharma", "Bluebird Software", "Groep Verhaege")
SHOPS = (  # name, lowest and highest usual amount in cents
    ("Albert Heijn", 600, 9_500), ("Lidl", 500, 8_000), ("Carrefour", 700, 12_000), ("SNCB tickets", 400, 4_800),
    ("Shell", 2_500, 9_000), ("IKEA", 1_200, 34_000), ("Spotify", 1_199, 1_199), ("Netflix", 1_399, 1_399),
    ("Zalando", 2_000, 18_000), ("Decathlon", 900, 15_000), ("Boekhandel Walry", 800, 4_500),
    ("Café Belga", 350, 3_900), ("Apotheek Centrum", 450, 5_200), ("Bol.com", 1_000, 22_000), ("Uber", 700, 4_200),
    ("Ryanair", 3_900, 24_000), ("Frituur Jef", 500, 2_600), ("Gamma", 800, 16_000), ("Kinepolis", 1_100, 4_400),
    ("Steam", 499, 5_999),
)  # fmt: skip
PAYEE_NAMES = (
    "Immo Vandaele", "Engie", "Proximus", "City of Ghent", "Sofie Claes", "Marco Rossi", "Aylin Demir",
    "Yoga Studio Prana", "Dr. Lefèvre", "Kinderopvang Zon", "Fitness Park", "Allianz", "Red Cross", "Jan Peeters",
    "Garage Maertens", "Luminus", "Tom Berg", "Music School Allegro", "Telenet", "Nina Horvat", "Woningfonds",
    "Oxfam", "Eva Lindqvist", "De Lijn", "Studio Kroon", "Pieter Maes", "Water-link", "Chen Wei", "Student Union",
    "Ana Almeida",
)  # fmt: skip
MEMOS = (
    "Rent March", "Dinner on Friday", "Birthday present", "Invoice 2214", "Shared groceries", "Gym fee", "Deposit",
    "Train tickets", "Thanks!", "Pocket money", "Half of the hotel", "Concert tickets", "Loan back", "Car repair",
)  # fmt: skip
IBANS = (
    "BE10431726300604", "BE80890717077177", "BE46625687067336", "BE85199449848606", "BE20121760516656",
    "BE20703020241756", "BE22421770166747", "BE83167710857815", "BE97672183824649", "BE78497442014386",
    "FI1246834095584270", "FI2913611756006153", "FI2946630945645744", "NL34INGB0830799655", "NL28INGB9833931878",
    "NL43RABO1599416179", "DK1395267319102294", "DK2481207928954991", "NO2187061193228", "NO1552264465398",
    "NO7288563291242", "AT232601392510119212",
)  # fmt: skip
NEW_PINS = ("4827", "9153", "3618", "7240", "2086", "5931", "8462", "1709", "6375", "0524", "4190", "7853", "3907")
