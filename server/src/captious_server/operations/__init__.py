"""Running the server: processes, health, logs, backup."""
