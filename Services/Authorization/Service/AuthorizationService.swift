enum AuthorizationServicePlaceholder {}
