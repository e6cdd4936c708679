enum AutoSignInServicePlaceholder {}
