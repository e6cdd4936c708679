enum DoublesPlaceholder {}
