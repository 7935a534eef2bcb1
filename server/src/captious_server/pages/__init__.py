"""The pages of the site: views and forms. Templates and style are in ``templates/`` and ``static/``."""
