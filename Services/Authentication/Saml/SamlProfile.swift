enum SamlProfilePlaceholder {}
