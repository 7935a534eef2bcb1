"""Models behind HTTP endpoints with OpenAI's chat protocol: questions, answers, a cache on disk, limits.

This package is independent of metrics: a question is a text, perhaps with an image, and an answer is a text, perhaps
with the probabilities of its tokens.
"""

from captious.models.endpoints.chat_model import ChatModel, as_chat_model, missing_client
from captious.models.endpoints.questions import Answer, Question, Token

__all__ = ["Answer", "ChatModel", "Question", "Token", "as_chat_model", "missing_client"]
