"""Code shared by metrics: document frequencies, vectors and models as parameters, word means, information flow."""
