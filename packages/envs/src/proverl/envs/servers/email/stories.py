"""What the correspondence is about. Slots: me, them (first names), project, city, day, week, number, code, amount."""

from typing import NamedTuple


class Story(NamedTuple):
    """A conversation; a turn that begins with `>` is the user's. The first turn carries the file."""

    subject: str
    turns: tuple[str, ...]
    file: str = ""
    do_not_forward: bool = False


COLLEAGUES = (
    Story("{project}: agenda for {day}", (
        "Hi {me},\n\nfor {day} I have three points: the open tickets, the budget and who covers the "
        "holidays. Anything to add?\n\n{them}",
        ">Hi {them},\n\nplease add the supplier contract, ten minutes is enough.\n\n{me}",
        "Done, it is point four. See you on {day}.\n\n{them}",
    )),
    Story("Numbers for {project}", (
        "Hello {me},\n\nattached are the figures for {project}. We are {number}% above plan, mostly "
        "because of travel. Can you check the second sheet before I pass them on?\n\nThanks\n{them}",
        ">Hi {them},\n\nthe second sheet counts the trip to {city} twice. The rest looks right.\n\n{me}",
    ), "{project} figures.xlsx"),
    Story("Your leave in week {week}", (
        "Hi {me},\n\nI saw that you are off in week {week}. Who can I turn to for {project} in the "
        "meantime?\n\nBest\n{them}",
    )),
    Story("Slides for {city}", (
        "Hi {me},\n\nhere is the first version of the slides for {city}. Pages 4 to 9 still need "
        "pictures. What do you think of the opening?\n\n{them}",
        ">Good opening. I would cut page 6, nobody will read that table from the back row.\n\n{me}",
        "You are right, it is gone. The new version will be there on {day}.\n\n{them}",
    ), "Slides {city} v1.pptx"),
    Story("Interview on {day}", (
        "Hello {me},\n\nthe candidate for {project} comes on {day} at ten. Could you do the technical "
        "part, about half an hour? The CV is attached, please keep it to yourself.\n\nRegards\n{them}",
        ">Yes, happy to. I will prepare two small exercises.\n\n{me}",
    ), "CV candidate {number}.pdf", True),
    Story("Test server down again", (
        "Hi all,\n\nthe test server has been down since this morning, the disk is full. I am moving the "
        "old logs away, it should be back within the hour.\n\n{them}",
        "Back up. I set an alert at 85% so that we hear of it earlier next time.\n\n{them}",
    )),
    Story("Salary review", (
        "Dear {me},\n\nattached is the letter on your salary review. Please read it before we talk on "
        "{day}, and treat it as confidential.\n\nKind regards\n{them}",
    ), "Letter salary review.pdf", True),
    Story("Birthday collection", (
        "Hi {me},\n\nwe are collecting for the birthday on {day}. I thought of a voucher for the climbing hall. "
        "Five euros each, just leave it on my desk.\n\n{them}",
        ">Great idea, I am in.\n\n{me}",
    )),
    Story("Handover of {project}", (
        "Hi {me},\n\nfrom next month on I work for the team in {city}, so {project} needs a new owner. I "
        "wrote down what is open. Shall we sit together on {day}?\n\n{them}",
        ">Hi {them},\n\nthat is a loss for us! {day} at two works, I'll book a room.\n\n{me}",
    ), "Handover {project}.docx"),
    Story("Workshop video", (
        "Hi {me},\n\nhere is the recording of the workshop in {city}. It is a large file, sorry. The "
        "part on {project} starts after twenty minutes.\n\n{them}",
    ), "Workshop {city}.mp4"),
)  # fmt: skip
CLIENTS = (
    Story("Offer for {project}", (
        "Dear {me},\n\nthank you for the call. Could you send us an offer for {number} days of work on "
        "{project}, by {day} if possible?\n\nKind regards\n{them}",
        ">Dear {them},\n\nwith pleasure. You will have it on {day} at the latest. Do the days in {city} "
        "include travel?\n\nBest regards\n{me}",
        "Travel comes on top, please list it separately.\n\nKind regards\n{them}",
    )),
    Story("Contract {project}", (
        "Dear {me},\n\nplease find the draft contract attached. Our lawyers changed the clause on "
        "liability, everything else is as agreed. The text must not be passed on before both sides have "
        "signed.\n\nSincerely\n{them}",
        ">Dear {them},\n\nthank you, we will read it by {day}.\n\nBest regards\n{me}",
    ), "Contract {project} draft 3.pdf", True),
    Story("Invoice {code} is still open", (
        "Dear {me},\n\nour invoice {code} of {amount} euros has been due since {day}. Has it got lost? "
        "A copy is attached.\n\nKind regards\n{them}",
        ">Dear {them},\n\nmy apologies, it was waiting for a signature. The payment goes out "
        "today.\n\nBest regards\n{me}",
    ), "Invoice {code}.pdf"),
    Story("Visit in {city}", (
        "Hello {me},\n\nwe would love to show you the new site in {city}. Would {day} suit you? There is "
        "a train at 8:12, I can pick you up at the station.\n\nBest wishes\n{them}",
        ">Hello {them},\n\n{day} is perfect, and so is the 8:12. Thank you!\n\n{me}",
    )),
    Story("Problem with the export", (
        "Hello {me},\n\nsince the update the export of {project} stops after {number} rows. A screenshot "
        "is attached. It is urgent for us, the report is due on {day}.\n\nThanks\n{them}",
        ">Hello {them},\n\nthank you for the screenshot, we can reproduce it. You will have a fix tomorrow.\n\n{me}",
        "It works again, thank you for the quick help!\n\n{them}",
    ), "Screenshot {number}.png"),
    Story("Photos of the site", (
        "Dear {me},\n\nattached are the photos of the site in {city} for your brochure. You may use all "
        "of them, please name the photographer.\n\nRegards\n{them}",
    ), "Photos {city}.zip"),
)  # fmt: skip
FRIENDS = (
    Story("Dinner on {day}?", (
        "Hey {me},\n\nwe are cooking on {day}, nothing fancy. Are you coming? Bring someone if you like.\n\n{them}",
        ">Hey {them},\n\nI'd love to! I'll bring dessert.\n\n{me}",
    )),
    Story("Weekend in {city}", (
        "Hi {me},\n\nI found a flat in {city} for the long weekend, {amount} euros for the four of us. "
        "Shall I book it? We have to decide by {day}.\n\nHugs\n{them}",
        ">Book it! I'll pay you back.\n\n{me}",
        "Booked! The plan is attached.\n\n{them}",
    ), "Plan {city}.pdf"),
    Story("Your bike", (
        "Hi {me},\n\nmy neighbour would take your old bike for {amount} euros. Is it still there?\n\n{them}",
    )),
    Story("Pictures from the wedding", (
        "Dear {me},\n\nfinally, the pictures! You are on most of those from the dance floor.\n\nLove\n{them}",
        ">They are wonderful, thank you!\n\n{me}",
    ), "Wedding pictures.zip"),
)  # fmt: skip
LISTS = (
    Story("Fire drill on {day}", (
        "Dear colleagues,\n\non {day} at eleven there is a fire drill. Please leave the building by the "
        "stairs and meet in the car park.\n\nFacility management",
    )),
    Story("Canteen menu", (
        "Dear colleagues,\n\nthe menu of next week is attached. On {day} it is vegetarian only.\n\nYour canteen team",
    ), "Menu week {week}.pdf"),
    Story("Minutes of the town hall", (
        "Hello everybody,\n\nhere are the minutes. The slides are for internal use only, please don't "
        "pass them on.\n\nInternal communication",
    ), "Town hall slides.pdf", True),
    Story("New travel policy", (
        "Dear colleagues,\n\nfrom next month on trips below four hours are made by train. Booked flights "
        "stay valid. Questions go to the office in {city}.\n\nInternal communication",
    )),
)  # fmt: skip
SERVICES = (  # sender, address, stories
    ("Parcelpoint", "no-reply@parcelpoint-delivery.com", (
        Story("Your parcel arrives on {day}", (
            "Hello {me},\n\nyour parcel {code} arrives on {day} between 10 and 13. You can still "
            "choose a pick-up shop.",)),
        Story("Your parcel was delivered", ("Hello {me},\n\nyour parcel {code} was left with a neighbour.",)),
    )),
    ("Railwise Tickets", "tickets@mail.railwise-travel.com", (
        Story("Your ticket to {city}", (
            "Your booking is confirmed: {city}, {day}, coach 11, seat {number}. The ticket is attached.",),
            "Ticket {city}.pdf"),
        Story("Delay on your journey to {city}", (
            "Your train to {city} is expected 25 minutes late. Your ticket is valid on any later train.",)),
    )),
    ("Cloudnest Billing", "billing@cloudnest-hosting.com", (
        Story("Your invoice of {amount} euros", (
            "Dear customer,\n\nyour invoice for last month is attached. We will debit {amount} euros from "
            "your card in five days.",), "Cloudnest invoice {code}.pdf"),
        Story("Storage at {number}%", (
            "Your storage is {number}% full. Delete old snapshots or choose a larger plan.",)),
    )),
    ("The Monday Brief", "newsletter@mondaybrief.news", (
        Story("Five things to know this week", (
            "Good morning! Rates stay where they are, trains get new names, and in {city} a library "
            "opens on a roof.",)),
        Story("Why everybody reads on paper again", (
            "Good morning! This week: paper, the four-day week in {city}, and a puzzle.",)),
    )),
    ("HR Portal", "do-not-reply@hr-portal.app", (
        Story("Your payslip is ready", (
            "Hello {me},\n\nyour payslip is attached. It is meant for you only.",), "Payslip.pdf", True),
        Story("Time sheet of week {week} is missing", ("Hello {me},\n\nplease fill in your time sheet by {day}.",)),
    )),
)  # fmt: skip
SPAM = (
    ("Grand Lottery Office", "claims@grand-lottery-winners.biz", Story(
        "You have WON {amount}.000 EUR", (
            "Dear winner, to receive the prize please open the form and fill in your bank details within "
            "24 hours!!!",), "Claim form.doc.exe")),
    ("Account Security", "security@your-bank-verify.info", Story(
        "Unusual sign-in from {city}", (
            "We noticed a sign-in from {city}. Confirm your identity now or your account is going to be "
            "closed.",))),
    ("Dr. Felix Moneta", "felix.moneta@crypto-gain.online", Story(
        "{number}% a month, guaranteed", (
            "Friend, I made {amount} euros yesterday while I slept. Let me show you the system, only 3 "
            "places left.",))),
    ("Parcel Customs", "fees@parcel-customs-fee.top", Story(
        "Your parcel is on hold", (
            "A fee of 1.99 is due for parcel {code}. Open the attached label to release it.",),
        "Shipping label.zip")),
    ("SEO Masters", "hello@seo-masters-rank.site", Story(
        "Page one of search within {number} days", (
            "Hi, I looked at your website and found 17 errors. Shall I send you the report for free?",))),
)  # fmt: skip
STRANGERS = (
    Story("Speaking at our meetup in {city}", (
        "Hello {me},\n\nI organise a small meetup in {city} and heard your talk on {project}. Would you "
        "like to speak on {day}? We pay for the train.\n\nBest\n{them}",
    )),
    Story("Question about your article", (
        "Dear {me},\n\nI read your article on {project} with great interest. Is the data behind figure 3 "
        "available?\n\nKind regards\n{them}",
    )),
)  # fmt: skip
