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
PEOPLE = {  # by nationality: given names, family names, how passports are numbered (A: a letter, 9: a digit)
    "Belgian": (
        ("Bram", "Lotte", "Noor", "Hugo", "Chloé", "Emma", "Yusuf", "Fatima"),
        ("Claes", "Maes", "Peeters", "Dubois", "Moreau", "Jansen", "Haddad", "Diallo"),
        "AA999999",
    ),
    "Dutch": (("Daan", "Femke", "Bram", "Noor", "Lars"), ("Bakker", "Jansen", "de Vries", "Berg"), "AA9999999"),
    "Danish": (("Søren", "Rasmus", "Ingrid", "Lars"), ("Nielsen", "Eriksen", "Berg"), "999999999"),
    "Italian": (("Chiara", "Sofia", "Marta", "Anna"), ("Rossi", "Bianchi", "Ricci"), "AA9999999"),
    "American": (("Ethan", "Grace", "Noah", "Priya"), ("Walker", "Bennett", "Morales", "Chen"), "999999999"),
    "British": (("Oliver", "Hannah", "Samuel", "Aisha"), ("Bennett", "Murphy", "Walker", "Okafor"), "999999999"),
    "Portuguese": (("Ana", "Tomás", "Ines"), ("Almeida", "Souza", "Silva"), "AA999999"),
    "Austrian": (("Lukas", "Hannah", "Jonas", "Petra"), ("Fischer", "Müller", "Weber"), "A9999999"),
    "French": (("Léa", "Hugo", "Zoë", "Omar"), ("Dubois", "Moreau", "Garnier", "Karim"), "99AA99999"),
    "Polish": (("Katarzyna", "Łukasz", "Marta"), ("Nowak", "Mazur", "Wójcik"), "AA9999999"),
    "Spanish": (("Lucía", "Mateo", "José", "Carlos"), ("García", "Fernández", "Ortiz"), "AAA999999"),
    "Japanese": (("Kenji", "Yuki", "Hana"), ("Tanaka", "Sato", "Suzuki"), "AA9999999"),
    "Indian": (("Priya", "Rahul"), ("Mehta", "Raman"), "A9999999"),
}
HOME_COUNTRIES = ("Belgian", "Belgian", "Belgian", "Dutch", "French")  # of the agency's customers, half of the time
PASSPORTS = (
    "EN482913", "GB5520187", "YA3391840", "CD7718204", "20AH44521", "PA6627190", "K8812045", "FR19BX703", "NL2X40916",
    "U7730281", "TR9052764", "ES4471208", "DK2091846", "PT663017", "Z5108823",
)  # fmt: skip
NAMES = (
    "Hugo", "Moreau", "Yusuf", "Dubois", "Jansen", "Noor", "Bram", "Diallo", "Lotte", "Chloé", "Peeters", "Berg",
    "Emma", "Karim",
)  # fmt: skip
LIMITS = [3, 4, 6, 7, 8, 9, 10, 12, 15, 20]
NIGHTS = [2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14]
