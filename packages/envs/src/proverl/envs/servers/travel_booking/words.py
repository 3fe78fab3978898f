"""Words: hotels, rooms, and examples of what callers say."""

OCCASIONS = (
    "{} long weekend", "Client visit {}", "Family trip to {}", "Conference in {}", "Honeymoon, {}", "Trade fair {}",
    "Mum's 70th in {}", "{} job interview", "Concert in {}", "Board meeting {}", "{} with the choir", "Wedding in {}",
)  # fmt: skip
TITLES = (
    "Lisbon long weekend", "Client visit London", "Rome with the kids", "New York marathon", "Honeymoon",
    "Annual sales meeting", "Mum's 70th birthday", "Vienna Christmas markets", "Trade fair Brussels",
    "Summer family trip", "Board meeting", "Jazz festival Copenhagen", "Job interview", "Wedding in Sintra",
    "University open day", "Museum tour", "Conference on rail safety",
)  # fmt: skip
HOTELS = {  # by city: five hotels and some streets; one name is found twice
    "Brussels": (
        ("Hotel Métropole Sud", "Maison Ixelles", "Le Petit Sablon", "Hotel du Parc", "Hotel Central"),
        ("Rue du Midi", "Avenue Louise", "Rue Neuve", "Boulevard Anspach"),
    ),
    "Copenhagen": (
        ("Nyhavn Lofts", "Hotel Ørsted", "Skt. Annæ Hotel", "The Copper Roof", "Hotel Nørreport"),
        ("Bredgade", "Vesterbrogade", "Store Kongensgade", "Istedgade"),
    ),
    "Rome": (
        ("Palazzo Velli", "Albergo del Sole", "Villa Trastevere", "Hotel Aurora", "Residenza Navona"),
        ("Via Cavour", "Via Nazionale", "Via dei Coronari", "Viale di Trastevere"),
    ),
    "New York": (
        ("Midtown Plaza", "The Bowery Rooms", "Hudson Corner", "Grand Park Hotel", "The Fig Tree"),
        ("Lexington Avenue", "West 44th Street", "Bowery", "Hudson Street"),
    ),
    "London": (
        ("Kensington Terrace", "Bloomsbury Court", "The Old Mint", "Riverside Inn", "Station Lodge"),
        ("Gower Street", "Cromwell Road", "Queensway", "Borough High Street"),
    ),
    "Lisbon": (
        ("Casa das Flores", "Hotel Baixa", "Pensão Alegria", "Casa Azul", "Atlantic View"),
        ("Rua Augusta", "Avenida da Liberdade", "Rua do Alecrim", "Rua da Prata"),
    ),
    "Vienna": (
        ("Residenz am Ring", "Hotel Karlskirche", "Hotel Zum Löwen", "Hotel Sachsenhof", "Hotel Central"),
        ("Mariahilfer Straße", "Wiedner Hauptstraße", "Landstraßer Hauptstraße", "Praterstraße"),
    ),
}
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
NIGHTS = [2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14]
