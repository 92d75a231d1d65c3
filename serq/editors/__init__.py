"""What an editor needs: the words of the language, highlighters made of them, and a language server."""
