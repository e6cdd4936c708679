enum ContractRuntimePlaceholder {}
