"""Words: who buys, what is billed, where webhooks go."""

COMPANIES = (
    "Atelier Lumen", "Nordwind Logistics", "Café Belga", "Bloom & Birch", "Kestrel Outdoor", "Maison Verdier",
    "Bäckerei Hofmann", "Studio Kroon", "Pixel & Pine", "Harbour Yoga", "Groep Verhaege", "Fjord Cycling",
    "Librería Central", "Tandartspraktijk De Wit", "Green Fork Catering", "Helix Pharma", "Kovač & Sons",
    "Museum aan de Kade", "Solar Roofs Łódź", "Lighthouse Hostel", "Bluebird Software", "O'Malley's Bar",
)  # fmt: skip
SERVICES = (  # what the merchant, a design and print studio, bills, with its usual range of prices in EUR
    ("Logo design", 450, 1_800), ("Brand guidelines, 24 pages", 900, 2_400),
    ("Website design, five pages", 1_200, 2_500),
    ("Website maintenance, one month", 60, 180), ("Printing of 500 flyers", 70, 160),
    ("Printing of 2,000 brochures", 480, 1_100), ("Business cards, 250 copies", 45, 95),
    ("Poster series, A2, 40 copies", 140, 320), ("Menu cards on recycled paper", 110, 290),
    ("Translation of the brochure", 180, 520), ("Photo shoot, half a day", 350, 700),
    ("Shop window lettering", 240, 680), ("Packaging design, two sizes", 600, 1_700),
    ("Newsletter template", 190, 420), ("Annual report, layout", 850, 2_300),
    ("Illustrations for the calendar", 300, 900), ("Copywriting, three articles", 270, 600),
    ("Letterpress invitations, 80 copies", 190, 380), ("Exhibition banner with stand", 95, 210),
    ("Workshop on brand photography", 320, 640),
)  # fmt: skip
NAMES = (
    "Atelier", "Nordwind", "Belga", "Kestrel", "Verdier", "Hofmann", "Studio", "Pixel", "Yoga", "Bloom", "Fjord",
    "Helix", "Solar", "Bluebird", "Museum", "Hostel", "Kim",
)  # fmt: skip
URLS = (  # the merchant's own systems, and apps that it connected
    "https://shop.oakandink.eu/hooks/payments", "https://erp.oakandink.eu/in/invoices",
    "https://crm.oakandink.eu/events", "https://intranet.oakandink.eu/finance/hook",
    "https://warehouse.oakandink.eu/release-order", "https://mailer.oakandink.eu/receipts",
    "https://stats.oakandink.eu/ingest", "https://staging.oakandink.eu/hooks/payments",
    "https://books.easyledger.com/webhooks/8841", "https://hooks.zapflow.io/catch/55120/a9c",
    "https://oakandink.shopbridge.app/payments", "https://notify.teamroom.app/in/oakandink-sales",
    "https://api.parcelpilot.com/v2/merchants/317/paid", "https://alerts.pagerly.dev/u/9fd2",
)  # fmt: skip
APPS = ("EasyLedger", "ShopBridge", "Zapflow")
BRANDS = ("Visa", "Visa", "Mastercard", "Mastercard", "Amex")
