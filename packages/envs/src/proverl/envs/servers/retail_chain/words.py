"""Words: the chain's stores and what they sell, and examples of what its people ask."""

STORES = (  # city, place, format
    ("Mechelen", "Distribution Centre North", "warehouse"), ("Nivelles", "Distribution Centre South", "warehouse"),
    ("Ghent", "Korenmarkt", "express"), ("Ghent", "Overpoort", "express"), ("Ghent", "Brusselsepoort", "supermarket"),
    ("Antwerp", "Meir", "express"), ("Antwerp", "Berchem", "supermarket"), ("Antwerp", "Het Zuid", "supermarket"),
    ("Brussels", "Flagey", "supermarket"), ("Brussels", "Gare du Midi", "express"),
    ("Brussels", "Châtelain", "express"),
    ("Leuven", "Bondgenotenlaan", "express"), ("Leuven", "Heverlee", "supermarket"),
    ("Liège", "Guillemins", "supermarket"), ("Namur", "Jambes", "supermarket"), ("Bruges", "Sint-Kruis", "supermarket"),
    ("Ostend", "Visserskaai", "express"), ("Hasselt", "Kuringen", "supermarket"), ("Mons", "Grand-Place", "express"),
    ("Kortrijk", "Station", "supermarket"), ("Aalst", "Hopmarkt", "supermarket"), ("Mechelen", "Station", "express"),
    ("Charleroi", "Ville-Basse", "supermarket"), ("Wavre", "Station", "supermarket"),
)  # fmt: skip
CITIES = (
    "Ghent", "Antwerp", "Brussels", "Leuven", "Liège", "Namur", "Bruges", "Ostend", "Hasselt", "Mons", "Kortrijk",
    "Aalst", "Mechelen", "Charleroi",
)  # fmt: skip
SKUS = (  # department, name, cost of a unit in cents, units in a case
    ("dairy", "Whole milk 1 l", 89, 12), ("dairy", "Semi-skimmed milk 1 l", 82, 12), ("dairy", "Oat drink 1 l", 139, 6),
    ("dairy", "Natural yoghurt 500 g", 95, 6), ("dairy", "Greek yoghurt 1 kg", 265, 6),
    ("dairy", "Unsalted butter 250 g", 219, 10), ("dairy", "Young Gouda, sliced 200 g", 199, 10),
    ("dairy", "Crème fraîche 200 ml", 112, 8), ("dairy", "Free-range eggs, 10 pieces", 245, 9),
    ("bakery", "Wholemeal bread 800 g", 149, 8), ("bakery", "Baguette 250 g", 65, 20),
    ("bakery", "Butter croissants, 4 pieces", 189, 12), ("bakery", "Raisin rolls, 6 pieces", 175, 8),
    ("bakery", "Tortilla wraps, 8 pieces", 145, 12),
    ("frozen", "Garden peas 750 g", 159, 10), ("frozen", "Spinach in portions 600 g", 135, 10),
    ("frozen", "Pizza margherita 350 g", 219, 8), ("frozen", "Oven chips 1 kg", 189, 8),
    ("frozen", "Fish fingers, 15 pieces", 329, 10), ("frozen", "Vanilla ice cream 900 ml", 279, 6),
    ("drinks", "Sparkling water 6x1.5 l", 245, 4), ("drinks", "Still water 6x1.5 l", 199, 4),
    ("drinks", "Orange juice 1 l", 165, 8), ("drinks", "Cola 1.5 l", 145, 6), ("drinks", "Cola zero 1.5 l", 145, 6),
    ("drinks", "Pils beer 24x25 cl", 1_190, 1), ("drinks", "Tripel beer 75 cl", 375, 6),
    ("drinks", "Côtes du Rhône 75 cl", 419, 6),
    ("pantry", "Spaghetti 500 g", 69, 20), ("pantry", "Basmati rice 1 kg", 229, 10),
    ("pantry", "Peeled tomatoes 400 g", 59, 24), ("pantry", "Ground coffee 250 g", 319, 12),
    ("pantry", "Speculoos paste 400 g", 239, 12), ("pantry", "Dark chocolate 70% 100 g", 149, 15),
    ("pantry", "Olive oil, extra virgin 75 cl", 689, 6), ("pantry", "Muesli with nuts 750 g", 289, 8),
    ("pantry", "Chickpeas 400 g", 75, 12), ("pantry", "Salted crisps 200 g", 119, 14),
    ("household", "Toilet paper, 12 rolls", 399, 5), ("household", "Washing-up liquid 500 ml", 129, 12),
    ("household", "Dishwasher tablets, 40 pieces", 549, 8), ("household", "Laundry detergent 1.5 l", 629, 6),
    ("household", "Bin bags 60 l, 20 pieces", 189, 20), ("household", "AA batteries, 8 pieces", 449, 10),
)  # fmt: skip
LEAD_DAYS = {"bakery": 1, "dairy": 1, "frozen": 2, "drinks": 3, "pantry": 4, "household": 5}
SEARCHES = (
    "milk", "yoghurt", "butter", "bread", "croissants", "pizza", "ice cream", "water", "cola", "beer", "rice", "coffee",
    "chocolate", "olive oil", "toilet paper", "batteries", "eggs", "spaghetti",
    "peas", "crisps",
)  # fmt: skip
