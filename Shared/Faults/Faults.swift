enum FaultsPlaceholder {}
