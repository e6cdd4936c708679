enum AuthenticationServicePlaceholder {}
