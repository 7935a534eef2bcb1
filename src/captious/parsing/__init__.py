"""The grammar of a caption: its phrase structure tree and the dependencies between its words."""
