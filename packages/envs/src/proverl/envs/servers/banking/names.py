"""Words of the start state: people, places, shops, and how customers name their accounts."""

FIRST_NAMES = (
    "Aino", "Amara", "Anna", "Bram", "Carlos", "Chiara", "Daan", "Elif", "Emma", "Fatima", "Femke", "Hugo", "Ines",
    "Ivan",
    "Jonas", "José", "Katarzyna", "Lars", "Léa", "Liam", "Lotte", "Łukasz", "Marta", "Mateo", "Mira", "Noah", "Nora",
    "Oliver", "Petra", "Priya", "Rasmus", "Samuel", "Sofia", "Søren", "Tomás", "Wei", "Yusuf", "Zoë",
)  # fmt: skip
LAST_NAMES = (
    "Almeida", "Bakker", "Berg", "Bianchi", "Claes", "Dubois", "Eriksen", "Fischer", "García", "Haddad", "Horvat",
    "Jansen",
    "Kaya", "Korhonen", "Lindqvist", "Maes", "Müller", "Novak", "O'Brien", "Okafor", "Peeters", "Rossi", "Schmidt",
    "Zhang",
)  # fmt: skip
CITIES = (
    "Antwerp", "Berlin", "Bruges", "Brussels", "Copenhagen", "Dublin", "Ghent", "Hamburg", "Helsinki", "Köln", "Leuven",
    "Lisbon", "Lyon", "Milan", "Oslo", "Rotterdam", "Seville", "Turku", "Utrecht", "Vienna",
)  # fmt: skip
CHECKING_NAMES = ("Everyday", "Household", "Joint account", "Main", "Bills", "Side business")
SAVINGS_NAMES = (
    "Rainy day", "Holiday fund", "New car", "House deposit", "Emergency fund", "Wedding", "Kids' future", "New kitchen",
    "Taxes", "Bike fund", "Moving costs", "Music studio",
)  # fmt: skip
EMPLOYERS = ("Nordwind Logistics", "Atelier Lumen", "Stad Gent", "Helix Pharma", "Bluebird Software", "Groep Verhaege")
SHOPS = (  # name, lowest and highest usual amount in cents
    ("Albert Heijn", 600, 9_500), ("Lidl", 500, 8_000), ("Carrefour", 700, 12_000), ("SNCB tickets", 400, 4_800),
    ("Shell", 2_500, 9_000), ("IKEA", 1_200, 34_000), ("Spotify", 1_199, 1_199), ("Netflix", 1_399, 1_399),
    ("Zalando", 2_000, 18_000), ("Decathlon", 900, 15_000), ("Boekhandel Walry", 800, 4_500),
    ("Café Belga", 350, 3_900),
    ("Apotheek Centrum", 450, 5_200), ("Bol.com", 1_000, 22_000), ("Uber", 700, 4_200), ("Ryanair", 3_900, 24_000),
    ("Frituur Jef", 500, 2_600), ("Gamma", 800, 16_000), ("Kinepolis", 1_100, 4_400), ("Steam", 499, 5_999),
)  # fmt: skip
PAYEE_NAMES = (
    "Immo Vandaele", "Engie", "Proximus", "City of Ghent", "Sofie Claes", "Marco Rossi", "Aylin Demir",
    "Yoga Studio Prana",
    "Dr. Lefèvre", "Kinderopvang Zon", "Fitness Park", "Allianz", "Red Cross", "Jan Peeters", "Garage Maertens",
    "Luminus", "Tom Berg", "Music School Allegro", "Telenet", "Nina Horvat", "Woningfonds", "Oxfam", "Eva Lindqvist",
    "De Lijn", "Studio Kroon", "Pieter Maes", "Water-link", "Chen Wei", "Student Union", "Ana Almeida",
)  # fmt: skip
