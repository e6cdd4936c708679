enum TokensPlaceholder {}
