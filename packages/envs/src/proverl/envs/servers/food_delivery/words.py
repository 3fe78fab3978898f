"""Restaurants, menus, vouchers, and what customers write."""

MENUS = {  # cuisine -> dishes: name, section, price in cents, diet, alcohol
    "breakfast": (
        ("Butter croissant", "side", 260, "vegetarian", False), ("Avocado toast", "main", 950, "vegan", False),
        ("Shakshuka", "main", 1_250, "vegetarian", False), ("Granola bowl", "main", 790, "vegetarian", False),
        ("Eggs Benedict", "main", 1_390, "any", False), ("Cappuccino", "drink", 380, "vegetarian", False),
        ("Fresh orange juice", "drink", 450, "vegan", False), ("Banana bread", "dessert", 390, "vegetarian", False),
    ),
    "bakery": (
        ("Ham and cheese baguette", "main", 620, "any", False),
        ("Mozzarella ciabatta", "main", 680, "vegetarian", False),
        ("Quiche Lorraine", "main", 790, "any", False), ("Tomato soup", "starter", 540, "vegan", False),
        ("Lemon tart", "dessert", 480, "vegetarian", False), ("Pain au chocolat", "side", 290, "vegetarian", False),
        ("Flat white", "drink", 390, "vegetarian", False),
    ),
    "pizza": (
        ("Margherita", "main", 1_050, "vegetarian", False), ("Diavola", "main", 1_350, "any", False),
        ("Quattro formaggi", "main", 1_390, "vegetarian", False), ("Marinara", "main", 950, "vegan", False),
        ("Garlic bread", "starter", 480, "vegetarian", False), ("Tiramisù", "dessert", 620, "vegetarian", False),
        ("San Pellegrino 50 cl", "drink", 320, "vegan", False), ("Peroni 33 cl", "drink", 390, "vegan", True),
    ),
    "burgers": (
        ("Classic cheeseburger", "main", 1_190, "any", False), ("Crispy chicken burger", "main", 1_240, "any", False),
        ("Beyond burger", "main", 1_320, "vegan", False), ("Large fries", "side", 420, "vegan", False),
        ("Onion rings", "side", 490, "vegetarian", False), ("Vanilla milkshake", "drink", 560, "vegetarian", False),
        ("Craft IPA 33 cl", "drink", 520, "vegan", True),
    ),
    "sushi": (
        ("Salmon nigiri, 6 pieces", "main", 1_290, "any", False),
        ("California roll, 8 pieces", "main", 1_150, "any", False),
        ("Avocado maki, 8 pieces", "main", 790, "vegan", False), ("Chirashi bowl", "main", 1_790, "any", False),
        ("Miso soup", "starter", 390, "vegan", False), ("Edamame", "starter", 480, "vegan", False),
        ("Mochi ice cream", "dessert", 590, "vegetarian", False), ("Asahi 33 cl", "drink", 420, "vegan", True),
    ),
    "indian": (
        ("Chicken tikka masala", "main", 1_490, "any", False), ("Palak paneer", "main", 1_290, "vegetarian", False),
        ("Chana masala", "main", 1_150, "vegan", False), ("Lamb biryani", "main", 1_650, "any", False),
        ("Garlic naan", "side", 350, "vegetarian", False), ("Vegetable samosas", "starter", 520, "vegan", False),
        ("Mango lassi", "drink", 420, "vegetarian", False),
    ),
    "thai": (
        ("Pad thai with prawns", "main", 1_450, "any", False), ("Green curry with tofu", "main", 1_320, "vegan", False),
        ("Massaman beef", "main", 1_590, "any", False), ("Tom yum soup", "starter", 690, "any", False),
        ("Spring rolls", "starter", 560, "vegan", False), ("Mango sticky rice", "dessert", 650, "vegan", False),
        ("Singha 33 cl", "drink", 430, "vegan", True),
    ),
    "lebanese": (
        ("Falafel wrap", "main", 890, "vegan", False), ("Shish taouk plate", "main", 1_590, "any", False),
        ("Mixed mezze for two", "main", 2_490, "vegetarian", False), ("Hummus", "starter", 590, "vegan", False),
        ("Tabbouleh", "side", 620, "vegan", False), ("Baklava", "dessert", 490, "vegetarian", False),
        ("Ayran", "drink", 280, "vegetarian", False),
    ),
    "mexican": (
        ("Burrito de pollo", "main", 1_190, "any", False), ("Three jackfruit tacos", "main", 1_090, "vegan", False),
        ("Quesadilla", "main", 990, "vegetarian", False), ("Guacamole and chips", "starter", 690, "vegan", False),
        ("Elote", "side", 450, "vegetarian", False), ("Churros", "dessert", 520, "vegetarian", False),
        ("Corona 33 cl", "drink", 450, "vegan", True),
    ),
    "bowls": (
        ("Salmon poke bowl", "main", 1_450, "any", False), ("Tofu buddha bowl", "main", 1_290, "vegan", False),
        ("Chicken Caesar salad", "main", 1_250, "any", False), ("Lentil soup", "starter", 620, "vegan", False),
        ("Chia pudding", "dessert", 520, "vegan", False), ("Green smoothie", "drink", 590, "vegan", False),
    ),
}  # fmt: skip
RESTAURANTS = {  # cuisine -> names, opening and closing time
    "breakfast": (("Early Bird", "Café Solbær", "The Yolk"), "07:00", "15:00"),
    "bakery": (("Boulangerie Moreau", "Le Pain du Coin", "Bageri Nord"), "06:30", "18:00"),
    "bowls": (("Green & Grain", "Poke Point", "Bowl Republic"), "08:30", "21:00"),
    "burgers": (("Burger Atelier", "Smash Brothers", "Patty & Bun"), "10:30", "23:00"),
    "pizza": (("Da Gennaro", "Pizzeria Vesuvio", "Bella Napoli"), "11:30", "22:30"),
    "sushi": (("Umi Sushi", "Tokyo Kitchen"), "12:00", "22:00"),
    "indian": (("Bombay Palace", "Saffron Garden", "Taj Express"), "11:30", "22:30"),
    "thai": (("Siam Corner", "Baan Thai"), "12:00", "22:00"),
    "lebanese": (("Beirut Bites", "Cèdre d'Or", "Habibi Grill"), "08:00", "23:30"),
    "mexican": (("El Camino", "Taquería Lupita"), "17:00", "23:00"),
}
STREETS = {  # by city
    "Utrecht": ("Kanaalstraat", "Biltstraat", "Nachtegaalstraat", "Amsterdamsestraatweg", "Voorstraat", "Twijnstraat"),
    "Ghent": ("Veldstraat", "Brabantdam", "Kortrijksepoortstraat", "Dampoortstraat", "Nieuwland", "Coupure Links"),
    "Copenhagen": ("Vesterbrogade", "Istedgade", "Nørrebrogade", "Østerbrogade", "Amagerbrogade", "Bredgade"),
    "Dublin": (
        "Camden Street",
        "Capel Street",
        "Thomas Street",
        "Rathmines Road",
        "South Circular Road",
        "Parnell Street",
    ),
    "Lisbon": (
        "Rua da Prata",
        "Rua do Alecrim",
        "Avenida Almirante Reis",
        "Rua Augusta",
        "Rua da Palma",
        "Rua do Ouro",
    ),
    "Vienna": (
        "Mariahilfer Straße",
        "Neubaugasse",
        "Josefstädter Straße",
        "Praterstraße",
        "Taborstraße",
        "Wiedner Gürtel",
    ),
}
LABELS = ("Home", "Office", "Parents", "Studio", "Neighbour", "Allotment")
# code, kind, value (percent or cents), least spending in cents, cuisine
VOUCHERS = (
    ("WELCOME10", "amount", 1_000, 2_000, None), ("LUNCH15", "percent", 15, 1_000, None),
    ("FREERIDE", "free_delivery", 0, 800, None), ("SORRY5", "amount", 500, 0, None),
    ("PIZZA20", "percent", 20, 2_000, "pizza"), ("SUSHI25", "percent", 25, 3_000, "sushi"),
    ("MORNING3", "amount", 300, 1_000, "breakfast"), ("BOWL10", "percent", 10, 1_500, "bowls"),
    ("TEAM30", "amount", 3_000, 12_000, None),
)  # fmt: skip
TIPS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0)
NOTES = (  # suit any dish
    "extra napkins", "no nuts, allergy", "pack it separately please", "no cutlery needed", "mark the lid with Sam",
    "without sesame, allergy", "no garnish please", "a paper bag, not plastic", "write Emma on the box",
    "keep it apart from the fish", "as little packaging as possible", "small portion, it is for a child",
    "two forks please", "same as last time", "nothing with peanuts near it", "put it on top in the bag",
    "label it for the reception", "a birthday candle if you have one",
)  # fmt: skip
NOTES_ON_ANYTHING = (
    "extra napkins", "no nuts, allergy", "pack it separately please", "no cutlery needed", "mark the lid with Sam",
)  # fmt: skip
PRAISE = (
    "Still hot when it arrived", "Friendly courier, great food", "Fresh and well packed", "Everything as ordered",
    "Perfect for our team lunch", "Lovely packaging", "Will order again",
)  # fmt: skip
GRUMBLES = (
    "Packed carelessly", "Late, but the restaurant called", "Portion smaller than last time", "Something had leaked",
    "Not as good as last time",
)  # fmt: skip
COMMENTS = (  # go with any number of stars
    "Arrived ten minutes after the promised time", "Left at the reception as asked", "Ordered for a team lunch",
    "First time we tried this place", "The courier called from the door", "Second order this week",
    "Sauce came in a separate cup", "Portions were as on the photo", "Eaten straight away at the office",
    "Same dish as last week", "No cutlery, as we had asked", "Came by bicycle in the rain",
    "It was for my mother's birthday", "The bag had our name on it", "Delivered to the back door",
    "We shared it between three", "There was a handwritten note in the box", "Usually I order the soup",
)  # fmt: skip
