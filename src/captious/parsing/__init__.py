"""Syntax of captions: phrase structure trees and dependencies between words."""
