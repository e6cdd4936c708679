enum GatewayServicePlaceholder {}
