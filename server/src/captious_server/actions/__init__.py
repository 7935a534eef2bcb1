"""What users do with requests, on pages and through the API: changes with their limits and log, and answers to send."""
