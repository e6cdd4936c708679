enum MediaTokenVerifierPlaceholder {}
