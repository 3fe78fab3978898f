"""Words: what people sell for how much, what they search for and write to each other."""

THINGS = {  # category -> titles with the lowest and highest usual price in EUR
    "bikes": (
        ("Gazelle Orange C7 city bike, 54 cm", 220, 420), ("Brompton M6L folding bike, black", 650, 1_150),
        ("Koga Miyata road bike, 1994", 180, 340), ("Puky children's bike, 16 inch", 45, 90),
        ("Cargo bike Babboe City, rain tent included", 700, 1_300), ("Thule bike trailer for two kids", 150, 290),
        ("Ortlieb Back-Roller panniers, pair", 60, 105), ("Abus folding lock Bordo 6000", 25, 50),
        ("Shimano Ultegra groupset, 11-speed", 190, 360), ("Brooks B17 leather saddle, brown", 40, 80),
    ),
    "books": (
        ("Harry Potter 1-7, hardcover box", 45, 95), ("Ottolenghi Simple, like new", 10, 18),
        ("Lonely Planet Japan, 2023", 6, 14), ("De avonturen van Kuifje, 12 comics", 35, 75),
        ("Gray's Anatomy for Students, 4th ed.", 25, 55), ("Lord of the Rings, Alan Lee edition", 30, 70),
        ("Murakami: five novels, paperback", 15, 30), ("Introduction to Algorithms (CLRS)", 25, 50),
        ("Asterix 1-20 in French", 60, 120), ("Elena Ferrante quartet", 16, 32),
    ),
    "clothing": (
        ("Levi's 501 jeans, W32 L34", 20, 45), ("Barbour waxed jacket, size L", 70, 150),
        ("Dr. Martens 1460 boots, 39", 45, 95), ("Patagonia fleece, women's M", 30, 65),
        ("Wedding dress, ivory, size 38", 120, 400), ("Fjällräven Kånken backpack, ochre", 30, 60),
        ("Veja sneakers, 42, worn twice", 35, 70), ("Burberry trench coat, vintage", 130, 320),
        ("Hand-knitted Norwegian jumper, M", 35, 80), ("Kids' snowsuit, 104", 12, 30),
    ),
    "collectibles": (
        ("Stamp album Belgium 1920-1960", 40, 160), ("Delft blue tile, 18th century", 35, 110),
        ("Pokémon Charizard, base set, played", 90, 260), ("Enamel sign Stella Artois", 60, 180),
        ("Swatch Jelly Fish, 1983, working", 80, 220), ("Box of 40 postcards, Art Nouveau", 20, 60),
        ("Silver pocket watch, Longines, ca. 1910", 140, 380), ("Panini album Euro 2000, complete", 45, 130),
        ("Murano glass vase, blue", 40, 120), ("Zenit camera with Helios 44-2 lens", 45, 95),
    ),
    "electronics": (
        ("iPhone 13, 128 GB, midnight", 240, 360), ("Sony WH-1000XM4 headphones", 110, 180),
        ("Nintendo Switch OLED with dock", 180, 260), ("Kindle Paperwhite 11th gen", 60, 100),
        ("ThinkPad X1 Carbon Gen 9", 380, 620), ("LG 27 inch 4K monitor", 140, 240),
        ("Canon EF 50mm f/1.8 STM", 60, 95), ("Philips Hue starter kit, 3 lamps", 50, 95),
        ("DJI Mini 2 drone, two batteries", 220, 340), ("iPad Air 4, cracked screen", 70, 140),
        ("Garmin Forerunner 245", 80, 140),
    ),
    "furniture": (
        ("IKEA Kallax shelf, 4x4, white", 40, 80), ("Eames-style lounge chair, leather", 220, 520),
        ("Oak dining table, 200 x 95 cm", 180, 480), ("Mid-century sideboard, teak", 250, 620),
        ("Leather chesterfield sofa, two seats", 200, 480), ("Ercol rocking chair", 120, 280),
        ("Desk, height adjustable, 140 cm", 110, 230), ("Baby cot with mattress", 40, 90),
        ("Set of six Thonet chairs", 240, 560), ("Bedside tables, walnut, pair", 45, 110),
    ),
    "home_and_garden": (
        ("KitchenAid Artisan mixer, red", 190, 330), ("Le Creuset casserole, 26 cm", 90, 170),
        ("Weber kettle barbecue, 57 cm", 70, 160), ("Bialetti Moka, 6 cups", 10, 22),
        ("Bosch cordless drill, two batteries", 50, 110), ("Persian rug, 140 x 200 cm", 120, 380),
        ("Monstera, 1.5 m, with pot", 25, 60), ("Gardena hose with reel", 20, 45),
        ("Sage Barista Express espresso machine", 260, 430), ("Lamp by Louis Poulsen, PH5", 280, 560),
    ),
    "music": (
        ("Yamaha P-125 digital piano", 320, 480), ("Fender Stratocaster, Mexico, 2015", 380, 620),
        ("Technics SL-1210 turntable", 320, 560), ("Violin 3/4 with case and bow", 120, 300),
        ("Vinyl: 30 jazz records, Blue Note", 90, 240), ("Korg Volca Keys", 70, 110),
        ("Cajón by Meinl", 50, 95), ("Kind of Blue, mono pressing", 25, 90),
        ("Alto saxophone Yamaha YAS-280", 480, 760), ("Shure SM58 microphone", 45, 80),
    ),
    "sports": (
        ("Ski set Atomic, 170 cm, with bindings", 120, 260), ("Yoga mat Manduka Pro", 35, 70),
        ("Kettlebells 8, 12 and 16 kg", 40, 85), ("Tent for three, MSR Elixir", 110, 210),
        ("Tennis racket Wilson Blade 98", 60, 130), ("Inflatable SUP board, 10'6", 150, 300),
        ("Climbing shoes La Sportiva, 41", 30, 65), ("Rowing machine Concept2", 520, 850),
        ("Osprey Atmos 65 backpack", 90, 160), ("Football boots, 40, barely used", 15, 35),
    ),
    "toys": (
        ("LEGO Technic Porsche 42056, complete", 210, 420), ("Brio train set, 80 pieces", 45, 95),
        ("Playmobil pirate ship", 25, 55), ("Wooden play kitchen", 40, 85),
        ("LEGO bricks, 5 kg mixed", 45, 80), ("Catan with Seafarers expansion", 22, 42),
        ("Baby walker wagon, wood", 15, 35), ("Dolls' house, hand-made, furnished", 60, 170),
        ("Ravensburger puzzle, 5000 pieces", 15, 35), ("Ticket to Ride Europe", 18, 34),
    ),
}  # fmt: skip
BULKY = ("Cargo bike", "Gazelle", "Koga", "Rowing machine")  # collected, as all furniture is
HARDLY_USED = ("like new", "worn twice", "barely used")  # titles that tell the condition
OLD = (
    "vintage",
    "ca. ",
    "1994",
    "Persian",
    "Mid-century",
    "chesterfield",
    "Blue Note",
    "mono pressing",
    "2015",
    "2023",
)
QUERIES = (
    "bike", "lego", "lamp", "yamaha", "sony", "table", "vintage", "shelf", "backpack", "camera", "leather sofa", "kids",
    "jacket", "chair", "piano", "violin", "puzzle", "watch", "city bike", "black", "tent", "desk", "vinyl", "boots",
    "album", "lounge chair", "headphones", "monitor", "leather",
)  # fmt: skip
NEW_TITLES = (
    "Moulinex bread maker", "Sandbox with lid", "Vintage typewriter Olivetti", "Samsung Galaxy tablet, 64 GB",
    "Wool winter coat, size M", "Acoustic guitar for beginners", "Set of six wine glasses", "Hiking boots, size 43",
    "Board game Azul", "Bookcase, pine, 180 cm", "Electric scooter, needs a new battery", "Garden bench, teak",
    "Rollerblades, size 38", "Record player with speakers", "Box of crime novels", "Child seat for a bike",
    "Espresso cups by Illy", "Dumbbells, 2 x 5 kg",
)  # fmt: skip
MESSAGES = (
    "I can pick it up this weekend.", "Would you take this?", "Cash or transfer, as you like.",
    "I live around the corner.", "It would be for my daughter's birthday.", "Is this price all right?",
    "I've been looking for this for months!",
    "Ready to pay today.", "My budget is a bit tight, sorry.", "Shipping included, if possible?",
    "There is one for less in Ghent, but yours looks better.", "Could you hold it until Friday?",
)  # fmt: skip
TRACKING_CODES = (
    "3SKLTA482917305", "3SDEVC118203946", "3SABCD730284615", "3SMYPA902845173", "323212009183746509182736",
    "323212005519283746501928", "323212007740193827465501", "01925538471062", "05338104729915", "09446120385527",
    "1Z5R89391209834712", "1Z999AA10123456784", "1ZE4A2690398120475",
)  # fmt: skip
