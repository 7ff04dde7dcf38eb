"""What commands take: arguments and options that several of them share."""
