enum RpcPlaceholder {}
