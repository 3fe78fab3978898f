"""Models, places and other words of the fleet."""

# model, energy, capacity (Wh or ml), consumption for a km, tire pressure (0.01 bar), body
MODELS = (
    ("Renault Zoe", "electric", 52_000, 165, 250, "car"),
    ("VW ID.3", "electric", 58_000, 160, 240, "car"),
    ("Tesla Model 3", "electric", 57_500, 145, 290, "glass roof"),
    ("Hyundai Ioniq 5", "electric", 77_400, 180, 250, "glass roof"),
    ("Kia EV6", "electric", 77_400, 175, 250, "car"),
    ("Škoda Enyaq", "electric", 77_000, 185, 260, "car"),
    ("Polestar 2", "electric", 78_000, 180, 270, "glass roof"),
    ("Citroën ë-Berlingo", "electric", 50_000, 205, 270, "van"),
    ("VW ID. Buzz Cargo", "electric", 77_000, 220, 310, "van"),
    ("Toyota Corolla", "petrol", 43_000, 47, 230, "car"),
    ("VW Golf", "petrol", 50_000, 58, 240, "car"),
    ("Dacia Duster", "petrol", 50_000, 62, 220, "car"),
    ("Peugeot 308", "diesel", 52_000, 47, 240, "glass roof"),
    ("Volvo V60", "diesel", 60_000, 53, 250, "glass roof"),
    ("Škoda Octavia", "diesel", 50_000, 46, 240, "car"),
    ("Renault Kangoo", "diesel", 54_000, 57, 260, "van"),
    ("Ford Transit", "diesel", 80_000, 86, 340, "van"),
)
COLOURS = ("white", "white", "grey", "grey", "black", "blue", "red", "silver", "green")
SEARCHES = (
    "Renault", "VW", "Tesla Model 3", "Hyundai", "Kia", "Škoda", "Polestar", "Citroën", "Toyota", "Volvo", "Peugeot",
    "Ford Transit", "white", "grey", "black", "blue",
)  # fmt: skip
NAME_SEARCHES = (
    "Ana", "Ann", "Anna", "Han", "Mar", "Lukas", "Mei", "Chi", "Jo", "Lu", "Al", "Em", "Petr", "Mor", "Wal", "Nie",
)  # fmt: skip
CUSTOMERS = (
    "Bakery Amandine", "Dental practice Lindner", "Hotel Astoria", "Garden centre De Linde",
    "Primary school Zonnebloem",
    "Café Mirador", "Printers Vidal & Sons", "Pharmacy Centraal", "Bike shop Two Wheels", "Restaurant Chez Léon",
    "Care home Sint-Anna", "Brewery Kasteel", "Notary Dupont", "Fitness Park East", "Flower shop Fleur",
)  # fmt: skip
FAR = (  # name, kind, distance in km as the crow flies
    ("International airport", "airport", 60),
    ("Regional warehouse", "customer", 75),
    ("Seaside conference hotel", "hotel", 95),
    ("Ferry terminal", "customer", 130),
    ("Wind farm site office", "customer", 180),
    ("Mountain lodge", "hotel", 240),
)
CHARGING = ("Ionity", "Fastned", "Allego", "Shell Recharge", "TotalEnergies Charging", "EVBox Park & Charge")
FUEL = ("Shell", "Q8", "TotalEnergies", "Esso", "BP")
GARAGES = ("Garage Maertens", "Tyre & Service Point", "AutoCare North")
PLACE_SEARCHES = (
    "bakery", "hotel", "school", "Ionity", "Fastned", "Shell", "Esso", "garage", "airport", "warehouse", "Home of",
    "depot", "pharmacy", "ferry",
)  # fmt: skip
