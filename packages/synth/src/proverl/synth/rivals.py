"""Tools that may serve the same request: where one is asked for and not on offer, another of its group must not be."""

_ALIKE = (  # of several servers
    {"search_restaurants", "search_places", "find_nearby_places", "find_destinations", "search_hotels", "list_stores"},
    {"geocode_address", "search_places", "find_destinations"},
    {"get_route", "plan_transit_trip", "start_navigation"},
    {"list_saved_places", "list_addresses", "find_destinations", "list_place_lists"},
    {"create_event", "schedule_meeting", "create_crm_task"},
    {"list_events", "list_meetings", "list_crm_tasks"},
    {"get_event", "get_meeting"},
    {"cancel_event", "cancel_meeting"},
    {"invite_person", "invite_participant"},
    {
        "list_people",
        "search_contacts",
        "search_leads",
        "find_email_contacts",
        "find_chat_members",
        "search_profiles",
        "find_customers",
        "find_passengers",
        "find_delivery_addresses",
        "list_system_users",
        "list_owners",
    },
    {"create_contact", "create_lead"},
    {"search_products", "search_listings"},
    {"create_post", "post_message"},
    {"search_emails", "search_posts", "list_channel_messages", "search_issues", "search_in_files"},
    {"list_payment_methods", "list_cards"},
    {"list_coupons", "list_vouchers"},
    {"create_issue", "create_crm_task"},
    {"list_orders", "list_food_orders", "list_stock_orders", "list_replenishments"},
    {"list_homes", "list_saved_places", "list_addresses"},
    {"list_accounts", "list_portfolios", "list_budgets"},
)
_INSTEAD = {  # of the same server: with these one gets as far
    "add_to_cart": {"update_cart_item"},
    "buy_listing": {"make_marketplace_offer"},
    "change_flight": {"cancel_flight", "book_flight"},
    "concatenate_files": {"create_file", "append_to_file"},
    "confirm_delivery": {"update_food_order_status"},
    "copy_path": {"create_file"},
    "create_file": {"write_file", "copy_path"},
    "append_to_file": {"write_file", "replace_in_file"},
    "delete_path": {"trash_path"},
    "draft_email_forward": {"create_draft"},
    "draft_email_reply": {"create_draft"},
    "join_channel": {"invite_chat_member"},
    "move_path": {"copy_path", "rename_path"},
    "record_shelf_count": {"adjust_stock"},
    "rename_path": {"copy_path", "move_path"},
    "replace_in_file": {"write_file"},
    "send_draft": {"schedule_draft"},
    "sort_file_lines": {"write_file"},
    "split_file": {"create_file"},
    "update_cart_item": {"add_to_cart", "remove_from_cart"},
    "update_food_order_status": {"confirm_delivery", "cancel_food_order"},
    "write_file": {"create_file", "replace_in_file", "append_to_file"},
}


def rivals(name: str) -> set[str]:
    """The tools that may serve what this one is asked for, without itself."""
    alike = {other for group in _ALIKE if name in group for other in group}
    return (alike | _INSTEAD.get(name, set())) - {name}
