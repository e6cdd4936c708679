/// Identifiers that SAML defines.
enum SamlURI {
    static let entityFormat = "urn:oasis:names:tc:SAML:2.0:nameid-format:entity"
    static let unspecifiedFormat = "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified"
    static let persistentFormat = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
    static let transientFormat = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
    static let bearer = "urn:oasis:names:tc:SAML:2.0:cm:bearer"
    static let postBinding = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"
    static let logoutByUser = "urn:oasis:names:tc:SAML:2.0:logout:user"
    static let redirectBinding = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
}
