"""Words: who buys, what is billed, where webhooks go."""

COMPANIES = (
    "Atelier Lumen", "Nordwind Logistics", "Café Belga", "Bloom & Birch", "Kestrel Outdoor", "Maison Verdier",
    "Bäckerei Hofmann", "Studio Kroon", "Pixel & Pine", "Harbour Yoga", "Groep Verhaege", "Fjord Cycling",
    "Librería Central", "Tandartspraktijk De Wit", "Green Fork Catering", "Helix Pharma", "Kovač & Sons",
    "Museum aan de Kade", "Solar Roofs Łódź", "Lighthouse Hostel", "Bluebird Software", "O'Malley's Bar",
)  # fmt: skip
DESCRIPTIONS = (
    "Website maintenance", "Logo design", "Consulting, two days", "Workshop for ten people", "Annual support plan",
    "Photo shoot", "Translation of the brochure", "Extra licences", "Hosting, one quarter", "Catering on Friday",
    "Office plants", "Coffee beans, 20 kg", "Repair of the espresso machine", "Season tickets", "Deposit for the venue",
    "Printing of 500 flyers", "Delivery and assembly", "Yoga classes, spring term",
)  # fmt: skip
NAMES = (
    "Atelier", "Nordwind", "Belga", "Kestrel", "Verdier", "Hofmann", "Studio", "Pixel", "Yoga", "Bakker", "Kim",
    "Novak", "García", "Schmidt", "Museum", "Hostel",
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
