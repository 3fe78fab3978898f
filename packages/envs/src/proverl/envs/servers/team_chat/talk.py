"""What people say in which kind of channel: threads of a message and its replies.

A reply that begins with `^` is by the one who began the thread, any other by someone else. Slots: asker, other (first
names of these two), city, project, day, number.
"""

GENERAL = (
    ("Good morning from {city}! Who else is here?", "Third floor, by the window."),
    ("Is the all-hands on {day} recorded?", "Yes, the link comes afterwards."),
    ("Found a silver ring in the kitchen, it is at reception.", "Mine, thank you so much!"),
    ("Does anybody know a good dentist?", "The one opposite the station."),
    ("The photos of the summer party are online.", "Page {number} is gold."),
    ("Blood donation on {day} in the town hall, who is coming along?", "I do!", "Me too."),
)
NEWS = (
    ("Welcome to our three new colleagues! They sit in {city} and have their first stand-up on {day}.", "Welcome!"),
    ("The office in {city} is closed on {day}, please work from home.",),
    (
        "We won the contract with the port of {city}. Thank you all, this was a team effort!",
        "Great news!",
        "Cake at three?",
    ),
    (
        "Reminder: please finish your goals for the quarter by {day}.",
        "Where do I find the form?",
        "^It is linked in the handbook.",
    ),
    ("The slides of the all-hands are in the shared folder.",),
    (
        "From next month on we offer a bike allowance of {number} euros.",
        "Finally, thank you!",
        "Does it count for e-bikes?",
        "^It does.",
    ),
)
HELP = (
    (
        "My laptop does not find the printer on floor {number} any more. Anyone else?",
        "Same here.",
        "Restarted the print server, please try again.",
        "^Works, thanks!",
    ),
    ("How do I get access to the {project} folder?", "Ask the owner of the folder, I cannot grant it."),
    (
        "VPN drops every ten minutes today.",
        "We are on it, the provider has a fault near {city}.",
        "It should be stable again.",
    ),
    ("New phones have arrived, whoever ordered one can pick it up by {day}.",),
    ("Is there a spare charger on the second floor?", "I'll leave one on your desk, {asker}."),
    (
        "Please do not open the mail about unpaid parcels, it is phishing.",
        "Too late for one of us, password is changed already.",
    ),
)
ENGINEERING = (
    ("Build {number} is red on main, looks like the date tests.", "My change, fix is on its way.", "Green again."),
    ("Can somebody review the {project} migration before {day}?", "I'll take it.", "^Thank you, {other}!"),
    ("We upgraded the database of {project} last night, no errors so far.",),
    (
        "Proposal: we drop the old export in the next release. Objections?",
        "Two customers in {city} still use it.",
        "^Then we write to them first.",
    ),
    ("The nightly job took {number} minutes longer than usual.", "There is a missing index on orders."),
    ("Who knows why the cache is cleared at noon?", "Historical reasons. Nobody dares to touch it."),
    ("Pairing session on {day} at ten, topic: flaky tests.", "I am in.", "Me too."),
    (
        "Dependency update: {number} packages, two with breaking changes.",
        "Which ones?",
        "^The date picker and the router.",
    ),
    ("New linter rule is active, it found {number} unused imports.", "I'll fix those in the {project} part."),
    ("Memory of the {project} worker has been growing slowly since {day}.", "I'll take a heap dump tonight."),
    ("Is there a reason why we pin the old runtime?", "The signing library. An update is announced for {day}."),
)
INCIDENTS = (
    (
        "INC-{number}: checkout has been slow since 14:10.",
        "Looking at the load balancer.",
        "Two nodes were out of memory, restarted.",
        "^Back to normal at 14:52.",
    ),
    (
        "INC-{number}: no mails from {project} for an hour.",
        "Queue is stuck, draining it now.",
        "^Resolved, write-up will follow on {day}.",
    ),
    ("INC-{number}: certificate of the status page expires on {day}.", "Renewed."),
    ("INC-{number}: customers in {city} report wrong prices.", "Rounding in the new tax table. Rolled back."),
)
PROJECT = (
    ("Notes from today: scope stays, the pilot starts in {city}, next check on {day}.", "Thanks for writing it down!"),
    ("The client asks whether we can move the launch by {number} days.", "Earlier or later?", "^Later.", "Then yes."),
    ("I put the new mock-ups into the folder, please comment by {day}.", "The second screen is much clearer now."),
    ("Who presents on {day}?", "I can do the first half.", "^Perfect, I'll do the rest."),
    ("Budget check: {number}% spent, {number}% of the work done.", "That is a good sign for once."),
    ("The test users in {city} liked the search, the map confused them.", "I have an idea for the map."),
    ("Demo went well! Two follow-up questions, I wrote them on the board.",),
    ("Kick-off is on {day}, I sent the invitation.", "Accepted."),
    ("We need one more pair of eyes on the contract.", "Send it over, I have an hour."),
    ("The interface to the old system is slower than we thought.", "By how much?", "^Factor {number}."),
    ("Training material is ready in three languages.", "Who checks the Portuguese one?"),
    ("Client is happy with the report, they only want bigger numbers on page {number}.",),
    ("Risk list updated, the top one is the delivery from {city}.", "I'll call them today.", "^Thank you!"),
    ("Can we get the room with the big screen on {day}?", "Booked."),
    ("I am on site in {city} until {day}, please write rather than call.", "Enjoy the sea!"),
)
SALES = (
    (
        "Meeting with the museum in {city} went well, they want an offer by {day}.",
        "I'll prepare the numbers.",
        "^Thanks {other}!",
    ),
    ("Does anybody have a reference in logistics?", "The port of {city}, ask them any time."),
    ("Renewals this month: {number} of 60 signed.",),
    ("Prospect asks for a discount of {number}%.", "Not without a two-year contract."),
    ("New price list is valid from {day}.", "Does it apply to open offers?", "^No, those keep the old prices."),
)
DESIGN = (
    (
        "Two versions of the start page for {project}, which one?",
        "The left one.",
        "Left, but with the photo of the right one.",
    ),
    ("Our blue fails the contrast check on grey.", "Darker by one step passes."),
    ("Illustrations for {city} are done, the bridge came out lovely.",),
    ("Icons: please use the set in the library, not screenshots of it.", "Guilty."),
)
OFFICE = (
    ("The coffee machine is repaired.", "You made my day."),
    ("Whose red bike blocks the gate?", "Mine, sorry! I'll move it."),
    ("I booked the big room on {day} from ten to twelve.",),
    ("Parcel for {other} at reception.", "On my way."),
    ("The lift is stuck, the technician is coming on {day}.", "Good for my step count."),
    ("The window cleaners are coming on {day}, please clear the sills.",),
    ("The heating on the first floor is off until {day}.", "Bringing my blanket."),
    ("There is leftover cake in the kitchen.", "Was. There was cake."),
    ("Who has the key to the bike cellar?", "It is at reception."),
    ("Guests from {city} on {day}, the meeting rooms on the left are taken.",),
)
LUNCH = (
    ("Lunch at the noodle place at noon?", "Yes!", "I'll join at half past."),
    ("The canteen has lasagne today.", "On my way."),
    ("Best ice cream in {city}?", "Behind the cathedral, the one with the long queue.", "^Went there, confirmed."),
    ("I cooked far too much curry, {number} portions in the fridge.", "You are a hero, {asker}."),
    ("New falafel stand on the market square, open until {day}.",),
    ("Who is ordering pizza for the late shift?", "Me. Usual ones?", "^Usual ones."),
)
RUNNING = (
    ("Today's run: {number} kilometres, mostly uphill.", "Respect."),
    ("Company run in {city}: who is in?", "Me!", "Only if we walk the last part."),
    ("My knee hurts after {number} kilometres, any advice?", "Rest until {day}. Really."),
    ("Early run on {day}, we meet at seven at the bridge.", "Seven in the morning?", "^Seven in the morning."),
    ("New shoes, finally.",),
)
BOOKS = (
    ("Just finished the book of this month. What an ending!", "No spoilers, I am at page {number}."),
    ("Next meeting is on {day} at six, somebody bring biscuits.", "I will."),
    ("Vote for the next book: the spy novel or the one set in {city}?", "The spy novel.", "Spy novel."),
    ("I'm leaving my copy in the kitchen, help yourselves.", "Took it, thanks!"),
    ("The translation is wonderful, by the way.",),
)
PETS = (
    ("My cat walked over the keyboard and closed a ticket.", "Hire the cat."),
    ("Dog in the office on {day}, is anybody allergic?", "Not me, bring it!"),
    ("We found a kitten near the station, {number} weeks old.", "Pictures!", "^Tomorrow, it sleeps."),
    ("Can somebody water my fish? I mean feed. I need a holiday.", "Gladly, until {day}."),
    ("The parrot learned to say stand-up.",),
)
PARTY = (
    ("{number} people have signed up so far, the cake should be bigger.", "Two cakes then."),
    ("Nobody say a word before {day}!", "Say what?", "^Exactly."),
    ("I booked the room above the bar in the old town.", "Perfect."),
    ("Who keeps the birthday girl busy until six?", "I'll schedule a very long meeting."),
)
SKIING = (
    ("The bus leaves on {day} at six from the car park.", "Six?!"),
    ("There are {number} centimetres of fresh snow.", "Packing my skis right now."),
    ("Whose gloves did we find in the bus?", "Mine, the blue ones!", "^They are at reception."),
    ("Thank you for three wonderful days!", "Again next year."),
)
LEADS = (
    ("Please send me your staffing for the next quarter by {day}.", "Done.", "Mine will follow tonight."),
    ("Two people are leaving {project} at the end of the month, who has capacity?", "I could lend one until summer."),
    ("Agenda for {day}: hiring, holidays, the office in {city}.", "Please add the on-call plan."),
    ("Survey: {number}% answered so far. Please remind your teams.", "Will do."),
)
FINANCE = (
    ("Travel is {number}% above plan, mainly {city}.", "That was the fair, it will go back to normal."),
    ("First version of the plan is in the folder, comments by {day} please.", "The licences are missing."),
    ("We can hire one more person, not two.", "Then the one in {city}."),
    ("The invoice for {project} is paid at last.",),
)
HIRING = (
    ("We have {number} applications for the role in {city}, shall we close it?", "Let's wait until {day}."),
    (
        "This morning's candidate was strong in systems, weak in testing.",
        "Second interview then?",
        "^Yes, on {day}.",
    ),
    ("Offer is out, fingers crossed.", "Signed!"),
)
