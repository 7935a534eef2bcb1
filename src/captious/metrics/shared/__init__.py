"""What several metrics use: document frequencies, vectors and models as parameters, word means, information flow."""
