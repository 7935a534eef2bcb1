"""References stored with what metrics compute about them, in files of arrays that processes map and share."""
