"""What work may take and must share: limits, locks, memory, and files in the user's cache folder."""
