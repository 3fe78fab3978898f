"""Words: kinds of budgets with what they are spent on and filled from, and examples of what people write."""

from typing import Literal, NamedTuple


class Kind(NamedTuple):
    """What belongs to one kind of budget; amounts in whole euros.

    `categories`: name, usual limit, expenses in a month, who is paid. `incomes`: source, amount, day of the month.
    `goals`: name and target. `given_up`: a category no longer in use, and who was paid.
    """

    categories: tuple[tuple[str, int, int, tuple[str, ...]], ...]
    incomes: tuple[tuple[str, int, int], ...]
    goals: tuple[tuple[str, int], ...]
    given_up: tuple[str, str]


KINDS = {
    "Household": Kind(
        (
            ("Rent", 1_150, 1, ("Immo Vandaele",)),
            ("Groceries", 620, 4, ("Albert Heijn", "Lidl", "Delhaize", "Saturday market", "Colruyt")),
            ("Electricity and gas", 165, 1, ("Engie",)),
            ("Phone and internet", 78, 1, ("Proximus",)),
            ("Childcare", 310, 1, ("Crèche Pas à Pas",)),
            ("Insurance", 95, 1, ("Allianz",)),
            ("Public transport", 110, 2, ("SNCB", "De Lijn")),
            ("Eating out", 140, 3, ("Café Belga", "Frituur Jef", "Ristorante Da Nino")),
            ("Pharmacy and doctor", 60, 1, ("Apotheek Centrum", "Dr. Lefèvre")),
        ),
        (("Salary Nordwind Logistics", 1_690, 1), ("Salary Stad Gent", 980, 3), ("Child benefit", 173, 8)),
        (("Summer holiday", 2_400), ("New washing machine", 650), ("Emergency fund", 6_000), ("Sofa", 1_200)),
        ("Piano lessons", "Academie De Poel"),
    ),
    "Personal": Kind(
        (
            ("Clothes", 80, 1, ("Zalando", "Uniqlo", "Vinted")),
            ("Books", 40, 1, ("Boekhandel Walry", "Bol.com")),
            ("Gym", 35, 1, ("Fitness Park",)),
            ("Coffee and snacks", 45, 4, ("Café Belga", "Bakkerij Aernoudt", "Starbucks")),
            ("Gifts", 60, 1, ("FNAC", "Dille & Kamille")),
            ("Subscriptions", 14, 1, ("Netflix",)),
            ("Hairdresser", 42, 1, ("Salon Élan",)),
        ),
        (("Pocket money from the household", 320, 1), ("Sold on Vinted", 38, 12)),
        (("Concert weekend", 260), ("New phone", 700), ("Guitar lessons", 480), ("Tattoo", 350)),
        ("Cinema pass", "Kinepolis"),
    ),
    "Side business": Kind(
        (
            ("Software", 75, 2, ("Adobe", "Figma", "Dropbox")),
            ("Materials", 220, 3, ("Schleiper", "Gamma", "De Banier")),
            ("Postage", 60, 3, ("bpost", "DHL")),
            ("Advertising", 90, 1, ("Meta Ads", "Google Ads")),
            ("Accountant", 120, 1, ("Fiduciaire Moreau",)),
            ("Bank fees", 12, 1, ("KBC",)),
            ("Training", 100, 1, ("Domestika", "Syntra")),
        ),
        (("Etsy payouts", 430, 5), ("Workshop fees", 180, 14), ("Atelier Lumen, order", 150, 20)),
        (("Kiln", 1_900), ("Stand at the spring fair", 450), ("New laptop", 1_500), ("Tax reserve", 2_200)),
        ("Storage unit", "Shurgard"),
    ),
    "Car": Kind(
        (
            ("Fuel", 160, 3, ("Shell", "TotalEnergies", "Q8")),
            ("Car insurance", 72, 1, ("Ethias",)),
            ("Parking", 45, 3, ("Interparking", "Q-Park", "EasyPark")),
            ("Maintenance", 90, 1, ("Garage Maertens", "Auto5")),
            ("Car wash", 18, 1, ("IMO Car Wash",)),
            ("Road tax", 31, 1, ("Vlaamse Belastingdienst",)),
        ),
        (("From the household budget", 390, 2), ("Carpool contributions", 45, 9)),
        (("Winter tyres", 520), ("Roof box", 380), ("Next car", 8_000), ("Dents repaired", 600)),
        ("Garage rent", "Immo Vandaele"),
    ),
    "Pets": Kind(
        (
            ("Dog food", 75, 2, ("Tom&Co", "Zooplus")),
            ("Cat food and litter", 48, 2, ("Zooplus", "Maxi Zoo")),
            ("Vet", 65, 1, ("Dierenkliniek De Brug",)),
            ("Pet insurance", 27, 1, ("Ethias",)),
            ("Dog walker", 80, 1, ("Wout's Walks",)),
            ("Toys and leads", 25, 1, ("Tom&Co", "Amazon")),
        ),
        (("From the household budget", 290, 2), ("Cat sitting for neighbours", 35, 13)),
        (
            ("Dental treatment", 420),
            ("Fence for the garden", 900),
            ("Agility course", 180),
            ("Carrier for the train", 95),
        ),
        ("Puppy classes", "Hondenschool Snuit"),
    ),
    "Student": Kind(
        (
            ("Room", 430, 1, ("Upkot",)),
            ("Food", 210, 4, ("Lidl", "Alma", "Aldi")),
            ("Course books", 50, 1, ("Acco", "Student Union")),
            ("Going out", 70, 3, ("De Werf", "Kinepolis", "Café Metropole")),
            ("Train home", 40, 2, ("SNCB",)),
            ("Phone", 15, 1, ("Mobile Vikings",)),
        ),
        (("From the parents", 420, 1), ("Bar job", 240, 10), ("Study grant", 195, 15)),
        (("Interrail", 900), ("Exchange term", 2_500), ("Second-hand bike", 180), ("Festival ticket", 240)),
        ("Piano lessons", "Academie De Poel"),
    ),
    "Holiday flat": Kind(
        (
            ("Electricity and water", 85, 1, ("Iberdrola", "Aguas de Valencia")),
            ("Cleaning", 180, 2, ("Limpiezas Lola",)),
            ("Repairs", 120, 1, ("Ferretería Gómez", "Fontanería Ruiz")),
            ("Community fees", 75, 1, ("Comunidad Calle Mayor",)),
            ("Linen and tableware", 60, 1, ("IKEA", "Zara Home")),
            ("Booking commission", 95, 1, ("Booking.com",)),
        ),
        (("Rent from guests", 540, 7), ("Cleaning charged to guests", 120, 7)),
        (("New air conditioning", 1_800), ("Repainting", 950), ("Patio furniture", 700), ("Local tax", 420)),
        ("Pool maintenance", "Piscinas Azul"),
    ),
}
FIXED = (  # categories that cost the same every month, so that their limit is what they cost
    "Rent", "Phone and internet", "Childcare", "Insurance", "Gym", "Subscriptions", "Accountant", "Bank fees",
    "Car insurance", "Pet insurance", "Dog walker", "Road tax", "Room", "Phone", "Community fees",
)  # fmt: skip
CATEGORY_NAMES = (
    "Pets", "Garden", "Hobbies", "Household goods", "Taxes", "Streaming", "Sports club", "Charity", "School trips",
    "Bike repairs", "Cosmetics", "Coworking", "Board games", "Vet", "Babysitter",
)  # fmt: skip
PAYEES = (
    "Lidl", "IKEA", "Decathlon", "Bol.com", "Shell", "Apotheek Centrum", "Bakkerij Aernoudt", "SNCB", "Action",
    "Kruidvat", "Brico", "Café Belga", "Hema", "Zalando", "Coolblue", "Saturday market", "Uber", "Kinepolis",
)  # fmt: skip
SOURCES = (
    "Salary", "Tax refund", "Birthday money", "Bonus", "Sale of the old bike", "Freelance job", "Deposit returned",
    "Interest", "Holiday pay", "Cashback", "Flea market", "Babysitting", "Insurance payout", "Overtime",
)  # fmt: skip
GOAL_NAMES = (
    "Ski trip", "New bike", "Camera", "Moving costs", "Garden shed", "Dentist", "Home office", "Family visit",
    "Sewing machine", "Driving lessons", "Christmas presents", "Espresso machine", "Solar panels", "Rainy day fund",
)  # fmt: skip
TARGETS = (250.0, 320.0, 400.0, 480.0, 600.0, 750.0, 900.0, 1_000.0, 1_250.0, 1_500.0, 2_000.0, 3_000.0)
LIMITS = (25.0, 40.0, 55.0, 65.0, 80.0, 95.0, 110.0, 130.0, 150.0, 180.0, 220.0, 260.0, 340.0)

Month = Literal["this_month", "last_month"]
