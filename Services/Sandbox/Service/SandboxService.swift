enum SandboxServicePlaceholder {}
