enum ContractsPlaceholder {}
