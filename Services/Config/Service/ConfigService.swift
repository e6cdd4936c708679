enum ConfigServicePlaceholder {}
