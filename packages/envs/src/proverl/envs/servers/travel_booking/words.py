"""Words: hotels, rooms, and examples of what callers say."""

TITLES = (
    "Spring break in Lisbon", "Copenhagen long weekend", "Rome with the kids", "Client visit London",
    "New York marathon", "Honeymoon", "Annual sales meeting", "Mum's 70th birthday", "Vienna Christmas markets",
    "Trade fair Brussels", "Summer family trip", "Board meeting", "Jazz festival", "Job interview",
    "Wedding in Sintra", "University open day", "Museum tour", "Conference on rail safety",
)  # fmt: skip
HOTEL_NAMES = (
    "Hotel Central", "Grand Park Hotel", "The Harbour House", "Hotel Aurora", "Stadsvilla", "Casa das Flores",
    "Hotel Sachsenhof", "The Old Mint", "Residenz am Ring", "Palazzo Velli", "Pensão Alegria", "Nyhavn Lofts",
    "The Bowery Rooms", "Hotel Métropole Sud", "Albergo del Sole", "Kensington Terrace", "Hotel Zum Löwen",
    "Riverside Inn", "Maison Ixelles", "Hotel Baixa", "Skt. Annæ Hotel", "Midtown Plaza", "The Fig Tree",
    "Hotel Karlskirche", "Villa Trastevere", "Bloomsbury Court", "Atlantic View", "Hotel du Parc", "Station Lodge",
    "The Copper Roof", "Hotel Belvedere", "Hudson Corner", "Casa Azul", "Hotel Ørsted", "Le Petit Sablon",
)  # fmt: skip
ROOMS = (  # name, sleeps, price against a double in percent
    ("Single room", 1, 75), ("Double room", 2, 100), ("Twin room", 2, 100), ("Superior double", 2, 135),
    ("Family room", 4, 165), ("Junior suite", 3, 210),
)  # fmt: skip
NATIONALITIES = (
    "Belgian", "Belgian", "Danish", "Italian", "American", "British", "Portuguese", "Austrian", "French", "Dutch",
    "Polish", "Japanese", "Brazilian", "Indian",
)  # fmt: skip
PASSPORTS = (
    "EN482913", "GB5520187", "YA3391840", "CD7718204", "20AH44521", "PA6627190", "K8812045", "FR19BX703", "NL2X40916",
    "U7730281", "TR9052764", "ES4471208", "DK2091846", "PT663017", "Z5108823",
)  # fmt: skip
NAMES = (
    "García", "Müller", "Chen", "Rossi", "Novak", "Kim", "Berg", "Silva", "Anna", "Noah", "Emma", "Léa",
    "Okafor", "Wei",
)  # fmt: skip
LIMITS = [3, 4, 6, 7, 8, 9, 10, 12, 15, 20]
NIGHTS = [1, 2, 3, 4, 5, 6, 7, 8, 10, 14]
